// The server's side of an encrypted connection.
#pragma once

#include <memory>
#include <string>

#include "protocol/tls_session.h"
#include "server/tls_context.h"

namespace sibyl::server {

// Who a client's certificate says it is. The certificate has been verified against the CA.
struct PeerCertificate {
  // The first SPIFFE URI among the subject's alternative names, else the subject's distinguished name as RFC
  // 2253 writes it. Empty: no certificate.
  std::string identity;
  std::string subject;
};

class TlsStream : public protocol::TlsSession {
 public:
  // The socket is not owned.
  TlsStream(std::shared_ptr<const TlsContext> context, int socket);

  // After the handshake.
  std::string protocol() const;
  std::string cipher_suite() const;  // IANA's name
  PeerCertificate peer() const;

 private:
  std::shared_ptr<const TlsContext> context_;
};

}  // namespace sibyl::server
