// TLS flags of commands that connect to a server.
#pragma once

#include "client/tls.h"

namespace CLI {
class App;
}

namespace sibyl::cli {

// Adds --ssl, --ssl-ca, --ssl-certificate, --ssl-key and --ssl-no-verify. Without --ssl-ca the file in the
// environment variable SSL_CERTFILE is used, as in cqlsh. `options` must outlive the command.
void add_ssl_flags(CLI::App& command, client::TlsOptions& options);

}  // namespace sibyl::cli
