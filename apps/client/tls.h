// TLS for clients.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "protocol/tls_session.h"

namespace sibyl::client {

struct TlsOptions {
  bool enabled = false;
  bool verify = true;            // verify the server's certificate and its name
  std::string ca_file;           // PEM: the CA of the server's certificate; empty: the system's CAs
  std::string certificate_file;  // PEM: the client's certificate; empty: none
  std::string key_file;          // empty: in certificate_file
  std::string server_name;       // the name in the server's certificate; empty: the host
};

// Creates a session that is ready for the handshake. The socket must be non-blocking and is not owned.
base::Result<std::unique_ptr<protocol::TlsSession>> start_tls(const TlsOptions& options,
                                                              const std::string& host, int socket);

}  // namespace sibyl::client
