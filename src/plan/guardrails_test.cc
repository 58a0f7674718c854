#include "plan/guardrails.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sibyl::plan {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(Guardrails, NothingIsCheckedByDefault) {
  std::vector<std::string> warnings;
  EXPECT_TRUE(guard(default_guardrails, tables_guard, 1'000'000, "t", warnings));
  EXPECT_TRUE(guard(default_guardrails, minimum_replication_guard, 1, "k", warnings));
  EXPECT_TRUE(guard(default_guardrails, group_by_guard, warnings));
  EXPECT_TRUE(guard(default_guardrails, zero_ttl_guard, warnings));
  EXPECT_THAT(warnings, IsEmpty());
}

TEST(Guardrails, AThresholdWarnsAndThenFails) {
  Guardrails guardrails;
  guardrails.tables = {.warn = 2, .fail = 4};
  std::vector<std::string> warnings;
  EXPECT_TRUE(guard(guardrails, tables_guard, 2, "t", warnings));
  EXPECT_THAT(warnings, IsEmpty());
  EXPECT_TRUE(guard(guardrails, tables_guard, 3, "t", warnings));
  EXPECT_THAT(warnings, ElementsAre("Guardrail tables violated: Creating table t, current number of tables 3 "
                                    "exceeds warning threshold of 2."));
  const base::Status refused = guard(guardrails, tables_guard, 5, "t", warnings);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), base::ErrorCode::invalid);
  EXPECT_EQ(refused.error().message(),
            "Guardrail tables violated: Cannot have more than 4 tables, aborting the creation of table t");
}

TEST(Guardrails, AMinimumWarnsAndFailsBelowIt) {
  Guardrails guardrails;
  guardrails.minimum_replication_factor = {.warn = 3, .fail = 2};
  std::vector<std::string> warnings;
  EXPECT_TRUE(guard(guardrails, minimum_replication_guard, 3, "k", warnings));
  EXPECT_THAT(warnings, IsEmpty());
  EXPECT_TRUE(guard(guardrails, minimum_replication_guard, 2, "k", warnings));
  EXPECT_THAT(warnings, ElementsAre("Guardrail minimum_replication_factor violated: The keyspace k has a "
                                    "replication factor of 2, below the warning threshold of 3."));
  EXPECT_FALSE(guard(guardrails, minimum_replication_guard, 1, "k", warnings));
}

TEST(Guardrails, AFeatureCanBeSwitchedOff) {
  Guardrails guardrails;
  guardrails.allow_filtering_enabled = false;
  std::vector<std::string> warnings;
  const base::Status refused = guard(guardrails, allow_filtering_guard, warnings);
  ASSERT_FALSE(refused);
  EXPECT_EQ(
      refused.error().message(),
      "Guardrail allow_filtering violated: Querying with ALLOW FILTERING is not allowed. ALLOW FILTERING "
      "can potentially visit all the data in the table and have unpredictable performance.");
}

TEST(Guardrails, ValuesAreWarnedAboutIgnoredOrRefused) {
  Guardrails guardrails;
  guardrails.table_properties = {.warned = {"cdc"}, .ignored = {"caching"}, .disallowed = {"compression"}};
  std::vector<std::string> warnings;
  const auto ignored = guard(guardrails, table_properties_guard, {"caching", "cdc", "comment"}, warnings);
  ASSERT_TRUE(ignored);
  EXPECT_THAT(*ignored, ElementsAre("caching"));
  EXPECT_THAT(
      warnings,
      ElementsAre("Guardrail table_properties violated: Ignoring provided values [caching] as they are not "
                  "supported for Table Properties (ignored values are: [caching])",
                  "Guardrail table_properties violated: Provided values [cdc] are not recommended for "
                  "Table Properties (warned values are: [cdc])"));
  const auto refused = guard(guardrails, table_properties_guard, {"compression"}, warnings);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message(),
            "Guardrail table_properties violated: Provided values [compression] are not allowed for Table "
            "Properties (disallowed values are: [compression])");
}

}  // namespace
}  // namespace sibyl::plan
