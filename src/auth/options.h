// How clients prove who they are, and whether what they may do is checked.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace sibyl::auth {

// Cassandra's classes of these names.
enum class Authenticator : uint8_t {
  allow_all,                          // AllowAllAuthenticator: nobody is asked
  password,                           // PasswordAuthenticator
  mutual_tls,                         // MutualTlsAuthenticator: the certificate's identity
  mutual_tls_with_password_fallback,  // MutualTlsWithPasswordFallbackAuthenticator
};
enum class Authorizer : uint8_t {
  allow_all,  // AllowAllAuthorizer: everybody may do everything
  cassandra,  // CassandraAuthorizer: permissions of roles
};

struct Options {
  Authenticator authenticator = Authenticator::allow_all;
  Authorizer authorizer = Authorizer::allow_all;
  // Cassandra's role_manager has one value, CassandraRoleManager. Its caches' validity has no meaning here:
  // a change of roles or permissions holds for the next request.
};

// With or without the package name, as cassandra.yaml takes them; others are refused.
base::Result<Authenticator> authenticator_by_name(std::string_view name);
base::Result<Authorizer> authorizer_by_name(std::string_view name);
base::Status check_role_manager(std::string_view name);

// "PasswordAuthenticator".
const char* to_string(Authenticator authenticator);
const char* to_string(Authorizer authorizer);
// "org.apache.cassandra.auth.PasswordAuthenticator": what AUTHENTICATE tells; drivers match on it.
std::string class_name(Authenticator authenticator);

// Refuses combinations that mean nothing: permissions without logins.
base::Status validate(const Options& options);

}  // namespace sibyl::auth
