#include "base/similar.h"

#include <gtest/gtest.h>

namespace sibyl::base {
namespace {

TEST(Similar, CountsEdits) {
  EXPECT_EQ(edit_distance("", ""), 0u);
  EXPECT_EQ(edit_distance("users", "users"), 0u);
  EXPECT_EQ(edit_distance("users", "user"), 1u);
  EXPECT_EQ(edit_distance("tabel", "table"), 1u) << "neighbours are swapped";
  EXPECT_EQ(edit_distance("abc", ""), 3u);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3u);
}

TEST(Similar, FindsWhatWasMeant) {
  const std::vector<std::string> names = {"users", "orders", "rows", "table", "Placed"};
  EXPECT_EQ(most_similar("user", names), "users");
  EXPECT_EQ(most_similar("tabel", names), "table");
  EXPECT_EQ(most_similar("rwos", names), "rows");
  EXPECT_EQ(most_similar("USERS", names), "users");
  EXPECT_EQ(most_similar("placd", names), "Placed");
  EXPECT_EQ(most_similar("invoices", names), "");
  EXPECT_EQ(most_similar("x", {}), "");
  EXPECT_EQ(most_similar("intt", {"inet", "int"}), "int") << "it begins alike";
  EXPECT_EQ(most_similar("cat", {"bat", "rat"}), "bat");
}

}  // namespace
}  // namespace sibyl::base
