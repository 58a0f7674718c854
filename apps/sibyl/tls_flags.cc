#include "sibyl/tls_flags.h"

#include <CLI/CLI.hpp>

namespace sibyl {

void TlsFlags::add_to(CLI::App& command) {
  command.add_option("--tls-certificate", certificate_,
                     "Encrypt connections with this certificate: PEM, or PKCS12 with its key");
  command.add_option("--tls-key", key_, "The certificate's key, if it is in a file of its own");
  command.add_option("--tls-ca", authority_, "Who signs the certificates of clients; those sent are checked");
  command.add_flag("--tls-optional", optional_, "Serve connections that are not encrypted, too");
  command.add_flag("--tls-require-client-certificate", require_client_certificate_,
                   "Refuse clients without a certificate");
}

void TlsFlags::apply(server::TlsOptions& options) const {
  using server::TlsOptions;
  if (!certificate_.empty()) {
    options.mode = TlsOptions::Mode::required;
    options.certificate_file = certificate_;
    options.key_file.clear();
  }
  if (!key_.empty()) options.key_file = key_;
  if (!authority_.empty()) {
    options.ca_file = authority_;
    if (options.client_certificates == TlsOptions::ClientCertificates::ignored)
      options.client_certificates = TlsOptions::ClientCertificates::optional;
  }
  if (optional_) options.mode = TlsOptions::Mode::optional;
  if (require_client_certificate_) options.client_certificates = TlsOptions::ClientCertificates::required;
}

void add_ssl_flags(CLI::App& command, client::TlsOptions& options) {
  command.add_flag("--ssl", options.enabled, "Encrypt the connection");
  command
      .add_option("--ssl-ca", options.ca_file, "Who signs the server's certificate (whom the system trusts)")
      ->envname("SSL_CERTFILE");
  command.add_option("--ssl-certificate", options.certificate_file, "The client's own certificate");
  command.add_option("--ssl-key", options.key_file, "Its key, if it is in a file of its own");
  command.add_flag("!--ssl-no-verify", options.verify, "Take any certificate of the server's");
}

}  // namespace sibyl
