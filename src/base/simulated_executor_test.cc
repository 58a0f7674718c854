#include "base/simulated_executor.h"

#include <gtest/gtest.h>

#include <string>

namespace sibyl::base {
namespace {

TEST(SimulatedExecutor, RunsTasksInTheOrderOfTheirTime) {
  SimulatedExecutor executor(1);
  std::string order;
  executor.run_after(30, [&] { order += "c"; });
  executor.run_after(10, [&] {
    order += "a";
    executor.run_after(10, [&] { order += "b"; });
  });
  executor.run_until(25);
  EXPECT_EQ(order, "ab");
  EXPECT_EQ(executor.now_micros(), 25);
  EXPECT_TRUE(executor.run_until_idle());
  EXPECT_EQ(order, "abc");
  EXPECT_EQ(executor.now_micros(), 30);
  EXPECT_FALSE(executor.run_one());
}

TEST(SimulatedExecutor, OrdersTasksOfOneMomentByTheSeed) {
  const auto order_of = [](uint64_t seed) {
    SimulatedExecutor executor(seed);
    std::string order;
    for (char c = 'a'; c <= 'h'; ++c) executor.run_after(5, [&order, c] { order += c; });
    executor.run_until_idle();
    return order;
  };
  EXPECT_EQ(order_of(1), order_of(1));
  EXPECT_NE(order_of(1), order_of(2));
  EXPECT_EQ(order_of(1).size(), 8U);
}

TEST(SimulatedExecutor, StopsAtTheGivenNumberOfTasks) {
  SimulatedExecutor executor(1);
  std::function<void()> again = [&] { executor.run_after(1, [&] { again(); }); };
  again();
  EXPECT_FALSE(executor.run_until_idle(10));
  EXPECT_EQ(executor.now_micros(), 10);
}

}  // namespace
}  // namespace sibyl::base
