#include "cli/session/session.h"

#include <gtest/gtest.h>

namespace sibyl::cli::shell {
namespace {

void expect_address(std::string_view text, const char* host, uint16_t port) {
  const std::optional<Address> address = parse_address(text);
  ASSERT_TRUE(address) << text;
  EXPECT_EQ(address->host, host) << text;
  EXPECT_EQ(address->port, port) << text;
}

TEST(Session, Addresses) {
  expect_address("", "127.0.0.1", 9042);
  expect_address("db.example", "db.example", 9042);
  expect_address("10.0.0.1:19042", "10.0.0.1", 19042);
  expect_address(":1234", "127.0.0.1", 1234);
  expect_address("1234", "127.0.0.1", 1234);
  expect_address("::1", "::1", 9042);
  expect_address("[::1]", "::1", 9042);
  expect_address("[::1]:1234", "::1", 1234);
  for (const char* wrong :
       {"host:", "65536", "host:0", "host:65536", "host:x", "host:1x", "[::1", "[::1]1", "[::1]:"})
    EXPECT_FALSE(parse_address(wrong)) << wrong;
}

TEST(Session, NamesAreFound) {
  SchemaNames names;
  names.keyspaces["k"].tables["t"].columns = {{"a", schema::ColumnKind::static_}};
  ASSERT_NE(names.find_table("k", "t"), nullptr);
  EXPECT_EQ(names.find_table("k", "x"), nullptr);
  EXPECT_EQ(names.find_table("x", "t"), nullptr);
  ASSERT_NE(names.find_table("k", "t")->find("a"), nullptr);
  EXPECT_EQ(names.find_table("k", "t")->find("b"), nullptr);
}

}  // namespace
}  // namespace sibyl::cli::shell
