#include "base/admission.h"

#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <optional>
#include <thread>

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

TEST_F(Admission, ReservedMemoryIsNotAdmittedAgain) {
  set_memory_limits({.total_bytes = memory_in_use() + (32 << 20)});
  const StatementScope scope(nullptr);
  {
    MemoryReservation reserved;
    EXPECT_TRUE(admit(20 << 20, 0, &reserved));
    EXPECT_FALSE(admit(20 << 20, 0));
    EXPECT_TRUE(admit(10 << 20, 0));
  }
  EXPECT_TRUE(admit(20 << 20, 0));
}

TEST_F(Admission, ABackgroundReservationWaitsForStatements) {
  set_memory_limits({.total_bytes = memory_in_use() + (32 << 20)});
  std::optional<MemoryReservation> of_statement(20 << 20);
  auto background = std::async(std::launch::async, [] {
    const MemoryReservation reservation(20 << 20);
    return MemoryReservation::wait_until_fits(std::chrono::minutes(1));
  });
  const StatementScope scope(nullptr);
  while (admit(10 << 20, 0)) std::this_thread::yield();  // until the other thread has reserved its memory
  EXPECT_EQ(background.wait_for(std::chrono::milliseconds(50)), std::future_status::timeout);
  of_statement.reset();
  EXPECT_TRUE(background.get());
  const MemoryReservation too_much(40 << 20);
  EXPECT_FALSE(MemoryReservation::wait_until_fits(std::chrono::milliseconds(10)));
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
