// The server's side of an encrypted connection.
#pragma once

#include <memory>
#include <string>

#include "protocol/tls_session.h"
#include "server/tls/tls_context.h"

namespace sibyl::server {

// The identity in a client's certificate, which has been verified against the CA.
struct PeerCertificate {
  // The first SPIFFE URI among the subject's alternative names, otherwise the subject's distinguished name in
  // RFC 2253 form. Empty: no certificate.
  std::string identity;
  std::string subject;
};

class TlsStream : public protocol::TlsSession {
 public:
  // The socket is not owned.
  TlsStream(std::shared_ptr<const TlsContext> context, int socket);

  // REQUIRES: the handshake has finished.
  std::string protocol() const;
  std::string cipher_suite() const;  // IANA name
  PeerCertificate peer() const;

 private:
  std::shared_ptr<const TlsContext> context_;
};

}  // namespace sibyl::server
