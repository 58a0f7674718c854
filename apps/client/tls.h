// The client's side of TLS.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "protocol/tls_session.h"

namespace sibyl::client {

struct TlsOptions {
  bool enabled = false;
  bool verify = true;            // the server's certificate and its name
  std::string ca_file;           // PEM: who signs it; empty: whom the system trusts
  std::string certificate_file;  // PEM: the client's own; empty: none
  std::string key_file;          // empty: in certificate_file
  std::string server_name;       // what the certificate is for; empty: the host that is connected to
};

// Ready to shake hands. The socket is non-blocking, and not owned.
base::Result<std::unique_ptr<protocol::TlsSession>> start_tls(const TlsOptions& options,
                                                              const std::string& host, int socket);

}  // namespace sibyl::client
