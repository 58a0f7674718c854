// Flags that stand for several settings of TLS.
#pragma once

#include <string>

#include "cli/configuration/reader.h"

namespace sibyl::cli {

// `sibyl serve --tls-…`: set client_encryption_options. Empty or false: not given.
struct TlsFlags {
  std::string certificate, key, authority;
  bool optional = false;
  bool require_client_certificate = false;
};
// A certificate alone turns on encryption of all connections, and overrides the key and the settings of a
// file. With an authority, the certificates that clients send are checked. REQUIRES: everything else has been
// read.
void read_tls_flags(const TlsFlags& flags, Reader& reader);

}  // namespace sibyl::cli
