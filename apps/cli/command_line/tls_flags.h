// TLS flags of commands that connect to a server.
#pragma once

#include <string>

#include "client/tls.h"

namespace CLI {
class App;
}

namespace sibyl::cli {

// Adds --ssl, --ssl-ca, --ssl-certificate, --ssl-key and --ssl-no-verify. Without --ssl-ca the file in the
// environment variable SSL_CERTFILE is used, as in cqlsh. `options` must outlive the command.
// For commands that connect to several servers, `prefix` ("from-") follows the dashes of every name.
void add_ssl_flags(CLI::App& command, client::TlsOptions& options, const std::string& prefix = "");

}  // namespace sibyl::cli
