#include "storage/memory/memory_store.h"

#include "storage/conformance.h"
#include "storage/purge_conformance.h"

namespace sibyl::storage::conformance {
namespace {

class MemoryHarness final : public Harness {
 public:
  MemoryHarness() {
    memory::Options options;
    options.clock = &clock_;
    options.fail_commit = [this](uint64_t) { return fail_; };
    store_ = memory::make_store(std::move(options));
  }
  Store& store() override { return *store_; }
  base::ManualClock& clock() override { return clock_; }
  void fail_commits(bool fail) override { fail_ = fail; }

 private:
  base::ManualClock clock_{0};
  bool fail_ = false;
  std::unique_ptr<Store> store_;
};

const MakeHarness make_harness = [] { return std::make_unique<MemoryHarness>(); };
INSTANTIATE_TEST_SUITE_P(Memory, StoreConformance, testing::Values(make_harness));
INSTANTIATE_TEST_SUITE_P(Memory, StorePurge, testing::Values(make_harness));

TEST(MemoryStore, FailuresAreChosenBySeed) {
  const auto run = [](uint64_t seed) {
    memory::Options options;
    options.fail_commit = memory::seeded_failures(seed, 3);
    const auto store = memory::make_store(std::move(options));
    std::string outcome;
    for (int i = 0; i < 60; ++i) {
      WriteSet writes;
      writes.put(std::to_string(i), "v");
      outcome += store->commit(std::move(writes)) ? '.' : 'x';
    }
    EXPECT_EQ(forwards(*store->iterate({}, {})).size(), std::count(outcome.begin(), outcome.end(), '.'));
    return outcome;
  };
  EXPECT_EQ(run(1), run(1));
  EXPECT_NE(run(1), run(2));
  EXPECT_NE(run(1).find('x'), std::string::npos);
}

TEST(MemoryStore, CommitsPurgeExpiredData) {
  MemoryHarness harness;
  harness.clock().set_micros(1'000'000'000);
  harness.store().set_purge_policy(purge_policy());
  WriteSet writes;
  for (int i = 0; i < 3000; ++i)
    writes.merge(row_key("r" + std::to_string(i)), encoded(one_tombstone(10, 1000)));
  ASSERT_TRUE(harness.store().commit(std::move(writes)).has_value());
  harness.clock().set_micros(2'000'000'000);
  size_t commits = 0;
  while (harness.store().approximate_size({}, {}) > 100 && commits < 10'000) {
    WriteSet one;
    one.put("other", "v");
    ASSERT_TRUE(harness.store().commit(std::move(one)).has_value());
    ++commits;
  }
  EXPECT_LT(commits, 10'000u);
}

TEST(MemoryStore, ACallbackMayCommitAgain) {
  const auto store = memory::make_store();
  WriteSet first;
  first.put("a", "1");
  bool done = false;
  store->commit(std::move(first), [&](base::Status status) {
    ASSERT_TRUE(status.has_value());
    WriteSet second;
    second.put("b", "2");
    store->commit(std::move(second), [&](base::Status inner) { done = inner.has_value(); });
  });
  EXPECT_TRUE(done);
  EXPECT_EQ(forwards(*store->iterate({}, {})).size(), 2u);
}

}  // namespace
}  // namespace sibyl::storage::conformance
