// The server's certificates and keys as OpenSSL contexts.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "base/mutex.h"
#include "base/result.h"
#include "server/tls/tls.h"

struct ssl_ctx_st;

namespace sibyl::server {

// Immutable. A connection keeps the context that it started with.
class TlsContext {
 public:
  static base::Result<std::shared_ptr<const TlsContext>> load(const TlsOptions& options);
  ~TlsContext();
  TlsContext(const TlsContext&) = delete;

  ssl_ctx_st* get() const { return context_; }
  // The certificate's subject and expiry date.
  std::string description() const;

 private:
  explicit TlsContext(ssl_ctx_st* context) : context_(context) {}
  ssl_ctx_st* context_;
};

// Holds the newest context that could be loaded. Thread-safe.
class TlsContexts {
 public:
  // REQUIRES: options.mode is not off.
  static base::Result<std::unique_ptr<TlsContexts>> open(
      const TlsOptions& options, std::chrono::milliseconds check_interval = std::chrono::seconds(5));

  // Returns the context for a new connection. If a file has changed since the last check, reloads first. If
  // that fails, logs an error and keeps the old context.
  std::shared_ptr<const TlsContext> current();
  // Reloads the files. On failure the old context stays in use.
  base::Status reload();

  const TlsOptions& options() const { return options_; }

 private:
  TlsContexts(const TlsOptions& options, std::chrono::milliseconds check_interval)
      : options_(options), check_interval_(check_interval) {}
  // Inodes, sizes and modification times of the files, as text.
  std::string fingerprint() const;
  base::Status load_locked() SIBYL_REQUIRES(mutex_);

  const TlsOptions options_;
  const std::chrono::milliseconds check_interval_;
  base::Mutex mutex_;
  std::shared_ptr<const TlsContext> context_ SIBYL_GUARDED_BY(mutex_);
  std::string fingerprint_ SIBYL_GUARDED_BY(mutex_);
  std::chrono::steady_clock::time_point checked_ SIBYL_GUARDED_BY(mutex_);
};

}  // namespace sibyl::server
