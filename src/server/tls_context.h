// Certificates and keys of the server, as OpenSSL holds them.
#pragma once

#include <chrono>
#include <memory>
#include <mutex>
#include <string>

#include "base/result.h"
#include "server/tls.h"

struct ssl_ctx_st;

namespace sibyl::server {

// Immutable; connections hold the one that they began with.
class TlsContext {
 public:
  static base::Result<std::shared_ptr<const TlsContext>> load(const TlsOptions& options);
  ~TlsContext();
  TlsContext(const TlsContext&) = delete;

  ssl_ctx_st* get() const { return context_; }
  // The certificate's subject, and until when it is valid.
  std::string description() const;

 private:
  explicit TlsContext(ssl_ctx_st* context) : context_(context) {}
  ssl_ctx_st* context_;
};

// The newest context that could be loaded. Any thread.
class TlsContexts {
 public:
  // REQUIRES: options.mode is not off.
  static base::Result<std::unique_ptr<TlsContexts>> open(
      const TlsOptions& options, std::chrono::milliseconds check_interval = std::chrono::seconds(5));

  // For a new connection. When a file has changed since it was last looked at, loads it first; when that
  // fails the old context stays, and the log says so.
  std::shared_ptr<const TlsContext> current();
  // Loads the files again. On failure the old context stays.
  base::Status reload();

  const TlsOptions& options() const { return options_; }

 private:
  TlsContexts(const TlsOptions& options, std::chrono::milliseconds check_interval)
      : options_(options), check_interval_(check_interval) {}
  // Times and sizes of the files.
  std::string fingerprint() const;
  base::Status load_locked();

  const TlsOptions options_;
  const std::chrono::milliseconds check_interval_;
  std::mutex mutex_;
  std::shared_ptr<const TlsContext> context_;
  std::string fingerprint_;
  std::chrono::steady_clock::time_point checked_;
};

}  // namespace sibyl::server
