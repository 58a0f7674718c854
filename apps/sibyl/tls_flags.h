// The flags of the command line that say how connections are encrypted.
#pragma once

#include <string>

#include "client/tls.h"
#include "server/tls.h"

namespace CLI {
class App;
}

namespace sibyl {

// `sibyl serve`: --tls-certificate, --tls-key, --tls-ca, --tls-optional, --tls-require-client-certificate. It
// must live as long as the command.
class TlsFlags {
 public:
  void add_to(CLI::App& command);
  // Changes what flags were given for.
  void apply(server::TlsOptions& options) const;

 private:
  std::string certificate_, key_, authority_;
  bool optional_ = false;
  bool require_client_certificate_ = false;
};

// Commands that are clients: --ssl, --ssl-ca, --ssl-certificate, --ssl-key, --ssl-no-verify. Without --ssl-ca
// the file that SSL_CERTFILE names is taken, as cqlsh does. `options` must live as long as the command.
void add_ssl_flags(CLI::App& command, client::TlsOptions& options);

}  // namespace sibyl
