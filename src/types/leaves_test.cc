#include "types/leaves.h"

#include <gtest/gtest.h>

namespace sibyl::types {
namespace {

TEST(LeavesTest, counts_every_nested_value) {
  const TypePtr number = scalar(Kind::int_);
  EXPECT_EQ(count_leaves(*number), 1u);
  EXPECT_EQ(count_leaves(*list_of(number, true)), 1u);
  EXPECT_EQ(count_leaves(*map_of(number, number, true)), 2u);
  EXPECT_EQ(count_leaves(*tuple_of({number, number, list_of(number, true)})), 3u);
  EXPECT_EQ(count_leaves(*vector_of(number, 300)), 300u);
  EXPECT_EQ(count_leaves(*vector_of(vector_of(number, 30), 20)), 600u);
  EXPECT_EQ(count_leaves(*udt_of("k", "u", {"a", "b"}, {vector_of(number, 10), number}, true)), 11u);
}

TEST(LeavesTest, counting_stops_at_the_limit) {
  EXPECT_GT(count_leaves(*vector_of(scalar(Kind::float_), 2'147'483'647)), max_type_leaves);
  EXPECT_GT(count_leaves(*vector_of(vector_of(scalar(Kind::float_), 65'536), 65'536)), max_type_leaves);
  EXPECT_EQ(count_leaves(*vector_of(scalar(Kind::float_), 65'536)), max_type_leaves);
  // The type has 10^60 leaves, too many to count one by one.
  TypePtr type = scalar(Kind::int_);
  for (int depth = 0; depth < 60; ++depth) type = tuple_of(std::vector<TypePtr>(10, type));
  EXPECT_GT(count_leaves(*type), max_type_leaves);
}

}  // namespace
}  // namespace sibyl::types
