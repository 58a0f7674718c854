#include "base/contain.h"

#include <gtest/gtest.h>

#include <new>
#include <stdexcept>
#include <string>
#include <vector>

namespace sibyl::base {
namespace {

TEST(Contain, ReturnsResultsUnchanged) {
  EXPECT_EQ(*contain([] { return 7; }), 7);
  EXPECT_EQ(*contain([]() -> Result<std::string> { return "text"; }), "text");
  EXPECT_TRUE(contain([] {}).has_value());
  const Status refused = contain([]() -> Status { return invalid("no"); });
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), ErrorCode::invalid);
}

TEST(Contain, ExceptionsBecomeServerErrors) {
  const auto thrown = contain([]() -> int { throw std::length_error("vector::reserve"); });
  ASSERT_FALSE(thrown);
  EXPECT_EQ(thrown.error().code(), ErrorCode::server);
  EXPECT_EQ(thrown.error().message(), "Unexpected exception: vector::reserve");
  const auto strange = contain([] { throw 7; });
  ASSERT_FALSE(strange);
  EXPECT_EQ(strange.error().message(), "Unexpected exception: unknown");
}

TEST(Contain, FailedAllocationsBecomeServerErrors) {
  const auto thrown = contain([] { throw std::bad_alloc(); });
  ASSERT_FALSE(thrown);
  EXPECT_EQ(thrown.error().code(), ErrorCode::server);
  EXPECT_EQ(thrown.error().message(), "Out of memory");
}

TEST(Contain, InsistRetriesUntilSuccess) {
  int tries = 0;
  retry_until_success([&] {
    if (++tries < 3) throw std::bad_alloc();
  });
  EXPECT_EQ(tries, 3);
}

}  // namespace
}  // namespace sibyl::base
