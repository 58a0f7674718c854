#include "cli/command_line/tls_flags.h"

#include <CLI/CLI.hpp>

namespace sibyl::cli {

void add_ssl_flags(CLI::App& command, client::TlsOptions& options, const std::string& prefix) {
  const auto flag = [&](const char* name) { return "--" + prefix + name; };
  command.add_flag(flag("ssl"), options.enabled, "Encrypt the connection");
  command
      .add_option(flag("ssl-ca"), options.ca_file,
                  "The CA of the server's certificate (the CAs that the system trusts)")
      ->envname("SSL_CERTFILE");
  command.add_option(flag("ssl-certificate"), options.certificate_file, "The client's own certificate");
  command.add_option(flag("ssl-key"), options.key_file, "The certificate's key, if it is in a separate file");
  command.add_flag_callback(
      flag("ssl-no-verify"), [&options] { options.verify = false; }, "Accept any certificate of the server");
}

}  // namespace sibyl::cli
