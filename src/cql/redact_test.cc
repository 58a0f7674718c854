#include "cql/redact.h"

#include <gtest/gtest.h>

namespace sibyl::cql {
namespace {

TEST(Redact, keeps_names_and_removes_constants) {
  EXPECT_EQ(without_literals("SELECT a,\n  \"B c\" FROM ks.t WHERE k = 'it''s' AND x IN (1, -2.5e3, 0xcafe)"),
            "SELECT a, \"B c\" FROM ks.t WHERE k = ? AND x IN (?, ?, ?)");
  EXPECT_EQ(
      without_literals("UPDATE t SET v = $$secret$$, u = 123e4567-e89b-12d3-a456-426614174000, d = 1h2m, "
                       "b = true WHERE k = :name AND j = ?"),
      "UPDATE t SET v = ?, u = ?, d = ?, b = ? WHERE k = :name AND j = ?");
  EXPECT_EQ(without_literals("CREATE ROLE r WITH PASSWORD = 'hunter2' /* hunter2 */ -- hunter2"),
            "CREATE ROLE r WITH PASSWORD = ? ");
}

TEST(Redact, cuts_the_text_at_the_first_invalid_token) {
  EXPECT_EQ(without_literals("SELECT 'never closed"), "SELECT …");
  EXPECT_EQ(without_literals("\xff"), "…");
  EXPECT_LT(without_literals("SELECT " + std::string(100'000, 'a')).size(), 200'000u);
}

}  // namespace
}  // namespace sibyl::cql
