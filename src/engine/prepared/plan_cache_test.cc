#include "engine/prepared/plan_cache.h"

#include <gtest/gtest.h>

#include <thread>

namespace sibyl::engine {
namespace {

plan::PreparedPtr plan_of(std::string text) {
  auto plan = std::make_shared<plan::Prepared>();
  plan->text = std::move(text);
  return plan;
}

TEST(PlanCache, FindsReplacesAndErases) {
  PlanCache cache({100, 1 << 20});
  EXPECT_EQ(cache.find("a").plan, nullptr);
  auto first = plan_of("x"), second = plan_of("y");
  cache.put("a", first, 1, 1024);
  EXPECT_EQ(cache.find("a").plan, first);
  EXPECT_EQ(cache.find("a").generation, 1u);
  cache.put("a", second, 2, 1024);
  EXPECT_EQ(cache.find("a").plan, second);
  EXPECT_EQ(cache.find("a").generation, 2u);
  EXPECT_EQ(cache.size(), 1u);
  cache.erase("a");
  cache.erase("a");
  EXPECT_EQ(cache.find("a").plan, nullptr);
  EXPECT_EQ(cache.size(), 0u);
}

TEST(PlanCache, KeepsUsedPlansWithinItsLimits) {
  PlanCache cache({160, 1 << 30});
  cache.put("used", plan_of("used"), 1, 1024);
  for (int i = 0; i < 10'000; ++i) {
    cache.put(std::to_string(i), plan_of("other"), 1, 1024);
    ASSERT_NE(cache.find("used").plan, nullptr) << i;
  }
  EXPECT_LE(cache.size(), 160u);
  EXPECT_EQ(cache.find("0").plan, nullptr);
  EXPECT_NE(cache.find("9999").plan, nullptr);
}

TEST(PlanCache, IsBoundedByBytes) {
  PlanCache cache({100'000, 1'000'000});
  for (int i = 0; i < 1'000; ++i) {
    cache.put(std::to_string(i), plan_of("x"), 1, 50'000);
    ASSERT_LE(cache.bytes(), 1'000'000u);
  }
  EXPECT_EQ(cache.size(), 19u);
  EXPECT_NE(cache.find("999").plan, nullptr);
}

// Across all shards.
TEST(PlanCache, LargeOnesAreBoundedTogether) {
  PlanCache cache({100'000, 1'000'000});
  for (int i = 0; i < 100; ++i) {
    cache.put(std::to_string(i), plan_of("x"), 1, 600'000);
    ASSERT_EQ(cache.size(), 1u);
    ASSERT_NE(cache.find(std::to_string(i)).plan, nullptr);
  }
  cache.put("99", plan_of("x"), 1, 2'000'000);
  EXPECT_EQ(cache.size(), 0u);
  EXPECT_EQ(cache.bytes(), 0u);
}

TEST(PlanCache, SmallPlansSurviveLargeOnes) {
  PlanCache cache({100'000, 1'000'000});
  for (int i = 0; i < 100; ++i) cache.put(std::to_string(i), plan_of("small"), 1, 1'000);
  for (int i = 0; i < 100; ++i) {
    cache.put("large" + std::to_string(i), plan_of("large"), 1, 400'000);
    for (int used = 0; used < 100; ++used) ASSERT_NE(cache.find(std::to_string(used)).plan, nullptr) << i;
  }
  EXPECT_EQ(cache.size(), 102u);
}

TEST(PlanCache, Threads) {
  PlanCache cache({64, 1 << 20});
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&cache, t] {
      for (int i = 0; i < 5'000; ++i) {
        std::string key = std::to_string((i * 7 + t) % 100);
        if (auto found = cache.find(key); found.plan) {
          EXPECT_EQ(found.plan->text, key);
        } else {
          cache.put(key, plan_of(key), 1, 1024);
        }
        if (i % 50 == 0) cache.erase(key);
      }
    });
  for (std::thread& thread : threads) thread.join();
  size_t visited = 0;
  cache.for_each([&](const std::string& key, const plan::Prepared& plan) {
    EXPECT_EQ(plan.text, key);
    ++visited;
  });
  EXPECT_EQ(visited, cache.size());
}

}  // namespace
}  // namespace sibyl::engine
