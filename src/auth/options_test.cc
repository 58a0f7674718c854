#include "auth/options.h"

#include <gtest/gtest.h>

namespace sibyl::auth {
namespace {

TEST(AuthOptions, NamesComeWithAndWithoutTheirPackage) {
  EXPECT_EQ(authenticator_by_name("PasswordAuthenticator").value(), Authenticator::password);
  EXPECT_EQ(authenticator_by_name("org.apache.cassandra.auth.MutualTlsAuthenticator").value(),
            Authenticator::mutual_tls);
  EXPECT_EQ(authorizer_by_name("CassandraAuthorizer").value(), Authorizer::cassandra);
  EXPECT_TRUE(check_role_manager("CassandraRoleManager").has_value());
  EXPECT_EQ(class_name(Authenticator::password), "org.apache.cassandra.auth.PasswordAuthenticator");
}

TEST(AuthOptions, OthersAreRefused) {
  EXPECT_EQ(authenticator_by_name("KerberosAuthenticator").error().code(), base::ErrorCode::config);
  EXPECT_FALSE(authorizer_by_name("").has_value());
  EXPECT_FALSE(check_role_manager("LdapRoleManager").has_value());
}

TEST(AuthOptions, PermissionsNeedLogins) {
  EXPECT_TRUE(validate({}).has_value());
  EXPECT_TRUE(validate({Authenticator::password, Authorizer::allow_all}).has_value());
  EXPECT_TRUE(validate({Authenticator::password, Authorizer::cassandra}).has_value());
  EXPECT_EQ(validate({Authenticator::allow_all, Authorizer::cassandra}).error().message(),
            "AllowAllAuthenticator can't be used with CassandraAuthorizer");
}

}  // namespace
}  // namespace sibyl::auth
