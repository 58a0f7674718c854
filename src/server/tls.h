// What the port says about TLS: cassandra.yaml's client_encryption_options.
#pragma once

#include <string>
#include <vector>

namespace sibyl::server {

// Files are PEM, or PKCS12 (what Java's keytool writes), told apart by their contents. They are read at the
// start, where anything wrong with them is refused, and again when they change (Server::reload_tls).
struct TlsOptions {
  enum class Mode {
    off,
    optional,  // plain and encrypted connections on one port
    required,  // plain ones are closed
  };
  enum class ClientCertificates {
    ignored,
    optional,  // one that is sent must be signed by `ca_file`
    required,
  };

  Mode mode = Mode::off;
  // The server's certificate, then those between it and the CA's; a PKCS12 file holds the key, too.
  std::string certificate_file;
  std::string key_file;      // empty: in certificate_file
  std::string key_password;  // of the key, or of the PKCS12 file
  // Who signs the certificates of clients. REQUIRED unless client certificates are ignored.
  std::string ca_file;
  std::string ca_password;  // of a PKCS12 file
  ClientCertificates client_certificates = ClientCertificates::ignored;
  std::vector<std::string> protocols;      // "TLSv1.2", "TLSv1.3"; empty: both. Older ones are refused.
  std::vector<std::string> cipher_suites;  // IANA's or OpenSSL's names; empty: OpenSSL's choice
};

}  // namespace sibyl::server
