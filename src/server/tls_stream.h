// One encrypted connection: OpenSSL on a non-blocking socket.
//
// Never waits. What an operation waits for is its outcome; the same operation is tried again then. Threads:
// one at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "server/tls_context.h"

struct ssl_st;

namespace sibyl::server {

// Who a client's certificate says it is. The certificate has been verified against the CA.
struct PeerCertificate {
  // The first SPIFFE URI among the subject's alternative names, else the subject's distinguished name as RFC
  // 2253 writes it. Empty: no certificate.
  std::string identity;
  std::string subject;
};

class TlsStream {
 public:
  enum class Outcome { done, wants_read, wants_write, closed, failed };

  // Of a server. The socket is not owned.
  TlsStream(std::shared_ptr<const TlsContext> context, int socket);
  ~TlsStream();
  TlsStream(const TlsStream&) = delete;

  Outcome handshake();
  // `done`: at least one byte.
  Outcome read(char* to, size_t size, size_t& got);
  Outcome write(const char* from, size_t size, size_t& sent);
  // From the socket, since the start.
  uint64_t bytes_read() const;
  // Says goodbye, if that goes without waiting.
  void shut_down();

  // After `failed`.
  const std::string& error() const { return error_; }

  // After the handshake.
  std::string protocol() const;
  std::string cipher_suite() const;  // IANA's name
  PeerCertificate peer() const;

 private:
  Outcome outcome_of(int result);

  std::shared_ptr<const TlsContext> context_;
  ssl_st* ssl_;
  std::string error_;
};

}  // namespace sibyl::server
