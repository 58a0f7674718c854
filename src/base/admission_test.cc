#include "base/admission.h"

#include <gtest/gtest.h>

#include "base/memory.h"
#include "base/statement.h"

namespace sibyl::base {
namespace {

class Admission : public ::testing::Test {
 protected:
  void TearDown() override { set_memory_limits({}); }
};

TEST_F(Admission, SucceedsOutsideOfStatements) {
  set_memory_limits({.total_bytes = 1, .statement_bytes = 1});
  EXPECT_TRUE(admit(size_t{1} << 40, 1'000'000'000));
}

TEST_F(Admission, ChecksTheLimitOfTheStatementEvenIfMemoryIsUnlimited) {
  set_memory_limits({.statement_bytes = 64 << 20});
  const StatementScope scope(nullptr);
  const UnlimitedMemory unlimited;
  EXPECT_TRUE(admit(60 << 20, 0));
  const int64_t used = memory::thread_state.used;
  const auto refused = admit(65 << 20, 0);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), ErrorCode::invalid);
  EXPECT_EQ(refused.error().message(), "The statement needs more than 64 MiB of memory");
  EXPECT_EQ(memory::thread_state.used, used);
  EXPECT_EQ(memory::thread_state.suspended, 1u);
}

TEST_F(Admission, ChecksTheTotal) {
  set_memory_limits({.total_bytes = memory_in_use() + (32 << 20)});
  const StatementScope scope(nullptr);
  EXPECT_TRUE(admit(31 << 20, 0));
  const auto refused = admit(33 << 20, 0);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), ErrorCode::overloaded);
}

class RefusesMilliseconds final : public Interrupt {
 public:
  Status check() const override {
    if (statement::upcoming_nanos() == 0) return {};
    return fail(Error(ErrorCode::server, "elsewhere"));
  }
};

TEST_F(Admission, AsksTheInterruptBeforeLongWork) {
  const RefusesMilliseconds interrupt;
  const StatementScope scope(&interrupt);
  EXPECT_TRUE(admit(1, 10));
  const auto refused = admit(1, 50'000'000);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message(), "elsewhere");
}

}  // namespace
}  // namespace sibyl::base
