// The flags of clients that say how their connections are encrypted.
#pragma once

#include "client/tls.h"

namespace CLI {
class App;
}

namespace sibyl {

// Commands that are clients: --ssl, --ssl-ca, --ssl-certificate, --ssl-key, --ssl-no-verify. Without --ssl-ca
// the file that SSL_CERTFILE names is taken, as cqlsh does. `options` must live as long as the command.
void add_ssl_flags(CLI::App& command, client::TlsOptions& options);

}  // namespace sibyl
