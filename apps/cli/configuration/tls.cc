// Translates the TLS flags into settings.
#include "cli/configuration/tls.h"

#include "cli/configuration/configuration.h"
#include "cli/configuration/reader.h"

namespace sibyl::cli {
namespace {

constexpr const char* key = "client_encryption_options.key";
constexpr const char* require_client_auth = "client_encryption_options.require_client_auth";

// True if a file or the environment sets the setting, and no flag does.
bool is_given_elsewhere(const Reader& reader, const char* name) {
  const Reader::Given* given = reader.given(name);
  return given != nullptr && given->origin != Origin::flag;
}

// A flag that sets the same setting takes precedence.
bool are_client_certificates_ignored(const Reader& reader) {
  const Reader::Given* given = reader.given(require_client_auth);
  return given == nullptr ||
         (given->origin != Origin::flag && given->value.items == std::vector<std::string>{"false"});
}

}  // namespace

void read_tls_flags(const TlsFlags& flags, Reader& reader) {
  const auto set = [&](const char* name, const std::string& value, const char* flag) {
    reader.set(name, value, Origin::flag, flag);
  };
  const bool has_certificate = !flags.certificate.empty();
  if (has_certificate) set("client_encryption_options.keystore", flags.certificate, "--tls-certificate");
  if (!flags.key.empty()) {
    set(key, flags.key, "--tls-key");
  } else if (has_certificate && is_given_elsewhere(reader, key)) {
    set(key, "", "--tls-certificate");  // the key in the file belongs to another certificate
  }
  if (has_certificate || flags.optional) {
    const char* flag = flags.optional ? "--tls-optional" : "--tls-certificate";
    set("client_encryption_options.enabled", "true", flag);
    set("client_encryption_options.optional", flags.optional ? "true" : "false", flag);
  }
  if (!flags.authority.empty()) set("client_encryption_options.truststore", flags.authority, "--tls-ca");
  if (flags.require_client_certificate) {
    set(require_client_auth, "true", "--tls-require-client-certificate");
  } else if (!flags.authority.empty() && are_client_certificates_ignored(reader)) {
    set(require_client_auth, "optional", "--tls-ca");
  }
}

}  // namespace sibyl::cli
