#include "auth/options.h"

#include <array>
#include <utility>

namespace sibyl::auth {
namespace {

constexpr std::string_view package = "org.apache.cassandra.auth.";

constexpr std::array<std::pair<Authenticator, const char*>, 4> authenticators = {
    {{Authenticator::allow_all, "AllowAllAuthenticator"},
     {Authenticator::password, "PasswordAuthenticator"},
     {Authenticator::mutual_tls, "MutualTlsAuthenticator"},
     {Authenticator::mutual_tls_with_password_fallback, "MutualTlsWithPasswordFallbackAuthenticator"}}};
constexpr std::array<std::pair<Authorizer, const char*>, 2> authorizers = {
    {{Authorizer::allow_all, "AllowAllAuthorizer"}, {Authorizer::cassandra, "CassandraAuthorizer"}}};

std::string_view without_package(std::string_view name) {
  if (name.starts_with(package)) name.remove_prefix(package.size());
  return name;
}

std::unexpected<base::Error> unknown(std::string_view what, std::string_view name, std::string hint) {
  return base::fail(base::Error(base::ErrorCode::config,
                                "Unable to find " + std::string(what) + " class '" + std::string(name) + "'")
                        .with_hint(std::move(hint)));
}

template <typename Names>
std::string one_of(const Names& names) {
  std::string text = "choose one of ";
  for (size_t i = 0; i < names.size(); ++i) text.append(i == 0 ? "" : ", ").append(names[i].second);
  return text;
}

}  // namespace

base::Result<Authenticator> authenticator_by_name(std::string_view name) {
  for (const auto& [value, known] : authenticators)
    if (known == without_package(name)) return value;
  return unknown("authenticator", name, one_of(authenticators));
}

base::Result<Authorizer> authorizer_by_name(std::string_view name) {
  for (const auto& [value, known] : authorizers)
    if (known == without_package(name)) return value;
  return unknown("authorizer", name, one_of(authorizers));
}

base::Status check_role_manager(std::string_view name) {
  if (without_package(name) == "CassandraRoleManager") return {};
  return unknown("role_manager", name, "CassandraRoleManager is the only supported value");
}

const char* to_string(Authenticator authenticator) {
  return authenticators[static_cast<size_t>(authenticator)].second;
}

const char* to_string(Authorizer authorizer) {
  return authorizers[static_cast<size_t>(authorizer)].second;
}

std::string class_name(Authenticator authenticator) {
  return std::string(package) + to_string(authenticator);
}

base::Status validate(const Options& options) {
  if (options.authenticator == Authenticator::allow_all && options.authorizer != Authorizer::allow_all)
    return base::fail(base::ErrorCode::config, std::string(to_string(options.authenticator)) +
                                                   " can't be used with " + to_string(options.authorizer));
  return {};
}

}  // namespace sibyl::auth
