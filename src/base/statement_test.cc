#include "base/statement.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

namespace sibyl::base {
namespace {

constexpr int64_t mebibyte = 1 << 20;

// Simulates an allocator: the tests' own memory is not counted.
struct Block {
  explicit Block(int64_t bytes) : size(bytes) {
    memory::reserve(static_cast<size_t>(bytes));
    memory::count_large(bytes);
  }
  ~Block() {
    memory::release(static_cast<size_t>(size));
    memory::count_large(-size);
  }
  Block(const Block&) = delete;
  int64_t size;
};

class StatementTest : public testing::Test {
 protected:
  void SetUp() override { set_memory_limits({64 * mebibyte, 16 * mebibyte}); }
  void TearDown() override { set_memory_limits({}); }

  template <typename Body>
  static Status run(Body body, const Interrupt* interrupt = nullptr) {
    return run_statement(interrupt, [&]() -> Status {
      body();
      return {};
    });
  }
};

struct EndAfter : Interrupt {
  explicit EndAfter(int checks) : left(checks) {}
  Status check() const override {
    if (--left >= 0) return {};
    return fail(ErrorCode::read_timeout, "enough");
  }
  mutable int left;
};

// A statement may leave its thread before a long step, so the interrupt must know how long the step will
// take.
TEST_F(StatementTest, the_interrupt_sees_the_next_step) {
  struct Recorder : Interrupt {
    Status check() const override {
      upcoming.push_back(statement::upcoming_nanos());
      return {};
    }
    mutable std::vector<int64_t> upcoming;
  } recorder;
  EXPECT_TRUE(run(
      [] {
        count_work(9'000'000);
        count_work(400'000);
        check_interrupt();
      },
      &recorder));
  EXPECT_EQ(recorder.upcoming, (std::vector<int64_t>{8'000'000, 0}));
  EXPECT_EQ(statement::upcoming_nanos(), 0);
}

TEST_F(StatementTest, a_statement_within_its_limit_runs) {
  EXPECT_TRUE(run([] {
    for (int i = 0; i < 1000; ++i) Block block(10 * mebibyte);
  }));
}

TEST_F(StatementTest, exceeding_its_limit_fails_the_statement) {
  const Status status = run([] {
    Block one(10 * mebibyte);
    Block two(10 * mebibyte);
  });
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code(), ErrorCode::invalid);
  EXPECT_EQ(status.error().message(), "The statement needs more than 16 MiB of memory");
  EXPECT_FALSE(status.error().hint().empty());
}

TEST_F(StatementTest, small_blocks_add_up) {
  int64_t reserved = 0;
  const Status status = run([&] {
    while (true) {
      memory::reserve(100);
      reserved += 100;
    }
  });
  EXPECT_EQ(status.error().code(), ErrorCode::invalid);
  EXPECT_NEAR(static_cast<double>(reserved), 16.0 * mebibyte, mebibyte);
}

TEST_F(StatementTest, a_refused_statement_releases_its_memory) {
  const int64_t before = memory_in_use();
  EXPECT_FALSE(run([] {
    Block one(10 * mebibyte);
    Block two(10 * mebibyte);
  }));
  EXPECT_EQ(memory_in_use(), before);
}

TEST_F(StatementTest, all_statements_together_stay_within_the_total) {
  Block others(60 * mebibyte);
  const Status status = run([] { Block block(8 * mebibyte); });
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code(), ErrorCode::overloaded);
  EXPECT_TRUE(run([] { Block block(2 * mebibyte); }));
}

TEST_F(StatementTest, a_large_block_is_compared_once_with_what_is_left) {
  Block others(50 * mebibyte);
  EXPECT_TRUE(run([] { Block block(13 * mebibyte); }));
  EXPECT_FALSE(run([] { Block block(15 * mebibyte); }));
}

TEST_F(StatementTest, small_statements_run_when_memory_is_exhausted) {
  Block others(70 * mebibyte);
  EXPECT_TRUE(run([] { Block block(100 << 10); }));
  EXPECT_FALSE(run([] { Block block(1 << 20); }));
}

TEST_F(StatementTest, results_count_until_they_are_freed) {
  std::unique_ptr<Block> result;
  const int64_t before = memory_in_use();
  ASSERT_TRUE(run([&] { result = std::make_unique<Block>(8 * mebibyte); }));
  EXPECT_EQ(memory_in_use(), before + 8 * mebibyte);
  result.reset();
  EXPECT_EQ(memory_in_use(), before);
}

TEST_F(StatementTest, resident_memory_has_a_limit_of_its_own) {
  const auto allocate = [] { Block block(mebibyte); };
  set_memory_limits({64 * mebibyte, 16 * mebibyte, int64_t{1} << 40});
  EXPECT_TRUE(run(allocate));
  set_memory_limits({64 * mebibyte, 16 * mebibyte, 1});  // less than any process has
  // Resident memory is measured at intervals, so the statement is refused after a while.
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  Status status = run(allocate);
  while (status && std::chrono::steady_clock::now() < deadline) status = run(allocate);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code(), ErrorCode::overloaded);
  EXPECT_TRUE(run([] { Block small(64 << 10); })) << "small statements run";
}

// Returning free pages to the system takes long.
TEST_F(StatementTest, a_statement_leaves_the_reactor_before_it_returns_free_pages) {
  struct NotHere : Interrupt {
    Status check() const override {
      if (statement::upcoming_nanos() < 10'000'000) return {};
      return fail(ErrorCode::server, "elsewhere");
    }
  } interrupt;
  set_memory_limits({64 * mebibyte, 16 * mebibyte, 1});
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  Status status;
  while ((status || status.error().message() != "elsewhere") && std::chrono::steady_clock::now() < deadline)
    status = run([] { Block block(mebibyte); }, &interrupt);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().message(), "elsewhere");
}

TEST_F(StatementTest, nothing_is_refused_outside_of_statements) {
  Block block(200 * mebibyte);
  EXPECT_TRUE(run([] {
    const UnlimitedMemory unlimited;
    Block inner(100 * mebibyte);
  }));
}

TEST_F(StatementTest, nested_scopes_share_one_limit) {
  const Status status = run([] {
    Block outer(10 * mebibyte);
    const Status inner = run([] { Block block(10 * mebibyte); });
    ASSERT_FALSE(inner);
    EXPECT_EQ(inner.error().code(), ErrorCode::invalid);
  });
  EXPECT_TRUE(status);
}

TEST_F(StatementTest, counted_work_checks_the_interrupt) {
  const EndAfter interrupt(3);
  int64_t nanos = 0;
  const Status status = run(
      [&] {
        while (true) {
          count_work(10'000);
          nanos += 10'000;
        }
      },
      &interrupt);
  EXPECT_EQ(status.error().code(), ErrorCode::read_timeout);
  EXPECT_NEAR(static_cast<double>(nanos), 4e6, 1e5);
}

TEST_F(StatementTest, work_without_an_interrupt_is_not_limited) {
  EXPECT_TRUE(run([] { count_work(int64_t{1} << 60); }));
  count_work(int64_t{1} << 60);
}

TEST_F(StatementTest, failed_allocations_are_errors) {
  const Status status = run([] { throw std::bad_alloc(); });
  EXPECT_EQ(status.error().code(), ErrorCode::server);
}

}  // namespace
}  // namespace sibyl::base
