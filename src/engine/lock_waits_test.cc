// Writes that wait for a lock on their partition do not occupy a thread.
#include "engine/lock_waits.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <thread>

#include "engine/test_database.h"
#include "execute/write/batch.h"
#include "types/value.h"

namespace sibyl::engine {
namespace {

using execute::ResultSet;
using types::ValueView;

// Blocks the statement at its fifth check, until it is released. A batch of 300 statements checks four times
// while it determines its rows. It makes the next checks while it builds its writes and holds its locks.
class Blocker final : public execute::Interrupt {
 public:
  base::Status check() const override {
    if (++asked_ == 5) {
      reached_.set_value();
      go_on_.get_future().get();
    }
    return {};
  }
  void wait_until_reached() { reached_.get_future().get(); }
  void let_go() { go_on_.set_value(); }

 private:
  mutable int asked_ = 0;
  mutable std::promise<void> reached_, go_on_;
};

class LockWaits : public testing::Test {
 protected:
  LockWaits() {
    database.must("CREATE TABLE t (k int PRIMARY KEY, v int, l list<int>)");
    database.must("CREATE TABLE n (k int PRIMARY KEY, n counter)");
    database.must("INSERT INTO t (k, v, l) VALUES (1, 0, [0])");
  }
  ~LockWaits() override {
    if (holder_.joinable()) release();
  }

  // Holds the lock of partition 1 until release().
  void hold(const std::string& text = "UPDATE t SET l[0] = 1 WHERE k = 1") {
    holder_ = std::thread([this, text] {
      const auto plan = database.engine->planner().plan_query(text, "e");
      ASSERT_TRUE(plan);
      execute::Request request;
      request.interrupt = &blocker_;
      std::promise<bool> ended;
      database.engine->executor().execute_batch(
          cql::Batch::Kind::unlogged, std::vector<execute::BatchItem>(300, {*plan, {}}), request,
          [&](base::Result<ResultSet> result) { ended.set_value(result.has_value()); });
      EXPECT_TRUE(ended.get_future().get());
    });
    blocker_.wait_until_reached();
  }
  void release() {
    blocker_.let_go();
    holder_.join();
  }

  std::future<base::Result<ResultSet>> start(const std::string& text) {
    auto answer = std::make_shared<std::promise<base::Result<ResultSet>>>();
    const auto plan = database.engine->planner().plan_query(text, "e");
    EXPECT_TRUE(plan) << text;
    database.engine->executor().execute(
        *plan, {}, [answer](base::Result<ResultSet> result) { answer->set_value(std::move(result)); });
    return answer->get_future();
  }
  static bool is_ready(std::future<base::Result<ResultSet>>& answer) {
    return answer.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
  }

  TestDatabase database{":memory:"};

 private:
  Blocker blocker_;
  std::thread holder_;
};

// This thread starts all writes. If waiting blocked the thread, it would stay at the first write.
TEST_F(LockWaits, WaitingWritesHoldNoThread) {
  hold();
  std::vector<std::future<base::Result<ResultSet>>> waiting;
  for (int i = 0; i < 500; ++i) waiting.push_back(start("UPDATE t SET v = 1 WHERE k = 1 IF v = 0"));
  waiting.push_back(start("BEGIN BATCH UPDATE t SET v = 2 WHERE k = 1 IF v = 1 APPLY BATCH"));
  auto other = start("UPDATE t SET v = 1 WHERE k = 2 IF v = null");
  auto scan = start("SELECT * FROM t");
  auto definition = start("CREATE TABLE others (k int PRIMARY KEY)");
  EXPECT_TRUE(other.get().has_value());
  EXPECT_TRUE(scan.get().has_value());
  EXPECT_TRUE(definition.get().has_value());
  for (auto& one : waiting) EXPECT_FALSE(is_ready(one));
  release();
  size_t applied = 0;
  for (auto& one : waiting) {
    auto result = one.get();
    ASSERT_TRUE(result.has_value()) << result.error().text();
    applied += *values_of(*result)[0][0] == types::encode_boolean(true) ? 1 : 0;
  }
  EXPECT_EQ(applied, 2u) << "the first, and the batch that came after it";
}

TEST_F(LockWaits, ConditionalWritesGiveUpAfterTheirTimeout) {
  hold();
  const auto started = std::chrono::steady_clock::now();
  auto first = start("UPDATE t SET v = 1 WHERE k = 1 IF v = 0");
  auto result = first.get();
  EXPECT_GE(std::chrono::steady_clock::now() - started, LockTimeouts().cas_contention);
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().code(), base::ErrorCode::write_timeout);
  EXPECT_EQ(result.error().message(),
            "CAS operation timed out: received 0 of 1 required responses after 0 contention retries");
  release();
  EXPECT_EQ(database.count("SELECT v FROM t WHERE k = 1 AND v = 0 ALLOW FILTERING"), 1u);
  EXPECT_TRUE(start("UPDATE t SET v = 1 WHERE k = 1 IF v = 0").get().has_value());
}

// The schema changes while the write waits. When the write continues, it uses the new index.
TEST_F(LockWaits, AWriteThatWaitedKnowsTheNewestSchema) {
  hold();
  auto waiting = start("UPDATE t SET v = 7 WHERE k = 1 IF v = 0");
  EXPECT_FALSE(is_ready(waiting));
  auto definition = std::async(std::launch::async, [&] { return database.run("CREATE INDEX ON t (v)"); });
  release();
  EXPECT_TRUE(waiting.get().has_value());
  EXPECT_TRUE(definition.get().has_value());
  EXPECT_EQ(database.count("SELECT * FROM t WHERE v = 7"), 1u);
  EXPECT_TRUE(database.faults().empty());
}

TEST(LockTimeouts, AreThoseOfTheKindOfWrite) {
  const LockTimeouts timeouts;
  EXPECT_EQ(timeout_of(LockUser::conditional, timeouts), timeouts.cas_contention);
  EXPECT_EQ(timeout_of(LockUser::counter, timeouts), timeouts.counter_write);
  EXPECT_EQ(timeout_of(LockUser::other, timeouts), timeouts.write);
  EXPECT_EQ(timeout_of(LockUser::truncate, timeouts), timeouts.truncate);
  EXPECT_EQ(lock_timeout_error(LockUser::counter, timeouts, 3).message(),
            "Operation timed out - received only 0 responses.");
}

TEST(RunGuarded, AnExceptionBecomesAnError) {
  std::optional<base::ErrorCode> answer;
  run_guarded([&](base::Result<ResultSet> result) { answer = result.error().code(); },
              [](execute::Completion) { throw std::bad_alloc(); });
  EXPECT_EQ(answer, base::ErrorCode::server);
  int answers = 0;
  run_guarded([&](base::Result<ResultSet>) { ++answers; },
              [](execute::Completion done) {
                done(ResultSet());
                throw std::bad_alloc();
              });
  EXPECT_EQ(answers, 1);
}

}  // namespace
}  // namespace sibyl::engine
