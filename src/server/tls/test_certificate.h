// Certificates for tests.
#pragma once

#include <cstdlib>
#include <string>

namespace sibyl::server {

// Creates a self-signed certificate, which is its own authority, as STEM.pem and STEM.key with the openssl tool.
// Returns false on failure.
inline bool make_test_certificate(const std::string& stem, const std::string& subject,
                                  const std::string& alternatives) {
  std::string command =
      "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj '" + subject +
      "' -keyout " + stem + ".key -out " + stem + ".pem";
  if (!alternatives.empty()) command += " -addext 'subjectAltName=" + alternatives + "'";
  return std::system((command + " 2>/dev/null").c_str()) == 0;
}

}  // namespace sibyl::server
