// Options of authentication and authorization.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace sibyl::auth {

// Named after Cassandra's classes.
enum class Authenticator : uint8_t {
  allow_all,                          // AllowAllAuthenticator: no login
  password,                           // PasswordAuthenticator
  mutual_tls,                         // MutualTlsAuthenticator: the certificate's identity
  mutual_tls_with_password_fallback,  // MutualTlsWithPasswordFallbackAuthenticator
};
enum class Authorizer : uint8_t {
  allow_all,  // AllowAllAuthorizer: every role may do everything
  cassandra,  // CassandraAuthorizer: permissions of roles
};

struct Options {
  Authenticator authenticator = Authenticator::allow_all;
  Authorizer authorizer = Authorizer::allow_all;
  // Cassandra's role_manager has one value, CassandraRoleManager. The validity periods of its caches have no
  // meaning here: changes of roles and permissions apply to the next request.
};

// Accepts names with or without the package, as in cassandra.yaml.
base::Result<Authenticator> authenticator_by_name(std::string_view name);
base::Result<Authorizer> authorizer_by_name(std::string_view name);
base::Status check_role_manager(std::string_view name);

// "PasswordAuthenticator".
const char* to_string(Authenticator authenticator);
const char* to_string(Authorizer authorizer);
// "org.apache.cassandra.auth.PasswordAuthenticator": sent in AUTHENTICATE. Drivers match on it.
std::string class_name(Authenticator authenticator);

// Rejects invalid combinations, such as permissions without logins.
base::Status validate(const Options& options);

}  // namespace sibyl::auth
