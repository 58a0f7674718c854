#include "auth/password.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <ctime>
#include <limits>
#include <string>

namespace sibyl::auth {
namespace {

using namespace std::string_literals;

TEST(Password, HashesAreBcryptAndDiffer) {
  const std::string one = hash_password("secret").value(), other = hash_password("secret").value();
  EXPECT_TRUE(one.starts_with("$2a$10$"));
  EXPECT_EQ(one.size(), 60u);
  EXPECT_NE(one, other);
  EXPECT_TRUE(check_password("secret", one));
  EXPECT_FALSE(check_password("Secret", one));
  EXPECT_FALSE(check_password("", one));
}

// The hash that a real Cassandra stores for its first superuser.
TEST(Password, CassandrasHashesAreTaken) {
  const std::string hash = "$2a$10$v29XodXqu88n/LkQvh4lI.LJQxfgxFUQUt13dkroL9eDVswXGfjR6";
  EXPECT_TRUE(check_password("cassandra", hash));
  EXPECT_FALSE(check_password("Cassandra", hash));
}

TEST(Password, InvalidHashesMatchNothing) {
  for (const std::string& hash : {""s, "x"s, "$2a$10$short"s, "secret"s, std::string(60, '$'),
                                  "$1$abcdefgh$abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz"s}) {
    EXPECT_FALSE(is_hash(hash)) << hash;
    EXPECT_FALSE(check_password("secret", hash)) << hash;
  }
  EXPECT_FALSE(check_password("", dummy_hash()));
}

TEST(Password, AHashThatTakesHoursIsRefused) {
  std::string hash = hash_password("x").value();
  hash.replace(4, 2, "30");
  EXPECT_FALSE(is_hash(hash));
}

TEST(Password, PasswordsWithNulAreRejected) {
  EXPECT_FALSE(hash_password("a\0b"s).has_value());
  EXPECT_FALSE(check_password("a\0b"s, hash_password("a").value()));
}

// Timing must not reveal whether a role exists: the same work is done for an unknown role as for a wrong
// password.
TEST(Password, TheDummyHashTakesAsLong) {
  const auto time = [](const std::string& hash) {
    std::clock_t best = std::numeric_limits<std::clock_t>::max();
    for (int i = 0; i < 5; ++i) {
      const std::clock_t start = std::clock();  // CPU time of this process only
      EXPECT_FALSE(check_password("wrong", hash));
      best = std::min(best, std::clock() - start);
    }
    return static_cast<double>(best);
  };
  const double real = time(hash_password("right").value()), nobody = time(dummy_hash());
  EXPECT_GT(nobody, real / 1.5);
  EXPECT_LT(nobody, real * 1.5);
}

TEST(Plain, TokensAreDecoded) {
  const auto plain = decode_plain("\0bob\0secret"s);
  ASSERT_TRUE(plain);
  EXPECT_EQ(plain->role, "bob");
  EXPECT_EQ(plain->password, "secret");
  EXPECT_EQ(decode_plain("someone\0bob\0secret"s)->role, "bob");
}

TEST(Plain, OthersAreRefusedInCassandrasWords) {
  const auto refused = [](const std::string& token) {
    const auto plain = decode_plain(token);
    EXPECT_EQ(plain.error().code(), base::ErrorCode::bad_credentials);
    return plain.error().message();
  };
  EXPECT_EQ(refused(""), "Password must not be null");
  EXPECT_EQ(refused("bob"), "Password must not be null");
  EXPECT_EQ(refused("\0bob\0"s), "Password must not be null");
  EXPECT_EQ(refused("\0secret"s), "Authentication ID must not be null");
  EXPECT_EQ(refused("\0\0secret"s), "Authentication ID must not be null");
  EXPECT_EQ(refused("a\0b\0c\0d"s),
            "Credential format error: username or password is empty or contains NUL(\\0) character");
}

TEST(WithoutPasswords, PasswordsInStatementsAboutRolesAreRemoved) {
  EXPECT_EQ(redact_passwords("CREATE ROLE bob WITH PASSWORD = 'secret' AND LOGIN = true"),
            "CREATE ROLE bob WITH PASSWORD *******");
  EXPECT_EQ(redact_passwords("alter user bob with password 'secret' superuser"),
            "alter user bob with password *******");
  EXPECT_EQ(redact_passwords("/* x */ ALTER ROLE bob WITH HASHED PASSWORD = '$2a$10$x'"),
            "/* x */ ALTER ROLE bob WITH HASHED PASSWORD *******");
}

TEST(WithoutPasswords, OtherStatementsStayWhole) {
  for (const char* text :
       {"SELECT password FROM users", "CREATE TABLE t (k int PRIMARY KEY, password text)",
        "UPDATE users SET password = 'x' WHERE k = 1", "CREATE ROLE bob WITH LOGIN = true", ""})
    EXPECT_EQ(redact_passwords(text), text);
}

}  // namespace
}  // namespace sibyl::auth
