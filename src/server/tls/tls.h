// TLS options of the client port, like cassandra.yaml's client_encryption_options.
#pragma once

#include <string>
#include <vector>

namespace sibyl::server {

// Files are PEM, or PKCS12 (the format of Java's keytool); the format is detected. They are read at startup,
// which fails if they are invalid, and again when they change (Server::reload_tls).
struct TlsOptions {
  enum class Mode {
    off,
    optional,  // plain and encrypted connections on one port
    required,  // plain connections are closed
  };
  enum class ClientCertificates {
    ignored,
    optional,  // optional: if a client sends a certificate, it must be signed by `ca_file`
    required,
  };

  Mode mode = Mode::off;
  // The server's certificate, followed by the intermediate certificates. A PKCS12 file also holds the key.
  std::string certificate_file;
  std::string key_file;      // empty: in certificate_file
  std::string key_password;  // password of the key, or of the PKCS12 file
  // The CA that signs client certificates. REQUIRED unless client certificates are ignored.
  std::string ca_file;
  std::string ca_password;  // the password of ca_file if that is a PKCS12 file
  ClientCertificates client_certificates = ClientCertificates::ignored;
  std::vector<std::string> protocols;      // "TLSv1.2", "TLSv1.3"; empty: both. Older protocols are refused.
  std::vector<std::string> cipher_suites;  // IANA or OpenSSL names; empty: OpenSSL's default
};

}  // namespace sibyl::server
