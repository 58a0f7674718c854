// The client's side of TLS, on a non-blocking socket.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "base/result.h"

struct ssl_st;
struct ssl_ctx_st;

namespace sibyl::client {

struct TlsOptions {
  bool enabled = false;
  bool verify = true;            // the server's certificate and its name
  std::string ca_file;           // PEM: who signs it; empty: whom the system trusts
  std::string certificate_file;  // PEM: the client's own; empty: none
  std::string key_file;          // empty: in certificate_file
  std::string server_name;       // what the certificate is for; empty: the host that is connected to
};

class TlsStream {
 public:
  enum class Outcome { done, wants_read, wants_write, closed, failed };

  // The socket is not owned.
  static base::Result<std::unique_ptr<TlsStream>> create(const TlsOptions& options, const std::string& host,
                                                         int socket);
  ~TlsStream();
  TlsStream(const TlsStream&) = delete;

  // Each is tried again, with the same arguments, when what it waits for is there.
  Outcome handshake();
  Outcome read(char* to, size_t size, size_t& got);
  Outcome write(const char* from, size_t size, size_t& sent);
  // Bytes that can be read although the socket has none.
  bool has_pending() const;
  void shut_down();

  const std::string& error() const { return error_; }

 private:
  TlsStream() = default;
  Outcome outcome_of(int result);

  ssl_ctx_st* context_ = nullptr;
  ssl_st* ssl_ = nullptr;
  std::string error_;
};

}  // namespace sibyl::client
