#include "storage/objects/memory/memory_objects.h"

#include <gtest/gtest.h>

#include "base/simulated_executor.h"
#include "storage/objects/conformance.h"

namespace sibyl::storage::objects {
namespace {

// Operations complete within the call. Tests set the storage's clock.
class InlineWorld final : public World {
 public:
  std::unique_ptr<ObjectStore> connect() override { return objects_.connect(); }
  void run_until(const std::function<bool()>& condition) override {
    for (int i = 0; i < 100 && !condition(); ++i) objects_.apply_late();
    ASSERT_TRUE(condition());
  }
  void pass(std::chrono::milliseconds time) override {
    clock_.set_micros(clock_.now_micros() + std::chrono::microseconds(time).count());
  }
  void hold() override {
    objects_.set_fault_choice([](const OperationInfo& operation) {
      return operation.kind == OperationInfo::Kind::mutate ? std::optional(Fault::late) : std::nullopt;
    });
  }
  void release() override { objects_.set_fault_choice({}); }
  void set_full(bool full) override { objects_.set_full(full); }

 private:
  base::ManualClock clock_{1'000'000'000};
  MemoryObjects objects_{{.clock = &clock_}};
};

class SimulatedWorld final : public World {
 public:
  std::unique_ptr<ObjectStore> connect() override { return objects_.connect(); }
  void run_until(const std::function<bool()>& condition) override {
    for (int i = 0; i < 100'000 && !condition(); ++i) executor_.run_one();
    ASSERT_TRUE(condition());
  }
  void pass(std::chrono::milliseconds time) override {
    executor_.run_for(std::chrono::microseconds(time).count());
  }
  void hold() override {
    objects_.set_fault_choice([](const OperationInfo& operation) {
      return operation.kind == OperationInfo::Kind::mutate ? std::optional(Fault::late) : std::nullopt;
    });
  }
  void release() override { objects_.set_fault_choice({}); }
  void set_full(bool full) override { objects_.set_full(full); }

 private:
  base::SimulatedExecutor executor_{7};
  MemoryObjects objects_{{.executor = &executor_}};
};

INSTANTIATE_TEST_SUITE_P(
    Memory, ObjectStoreConformance,
    testing::Values(Implementation{"inline", [] { return std::make_unique<InlineWorld>(); }},
                    Implementation{"simulated", [] { return std::make_unique<SimulatedWorld>(); }}),
    [](const auto& info) { return info.param.name; });

// Runs many appends of two writers under all faults. Returns what happened as text.
std::string run(uint64_t seed) {
  base::SimulatedExecutor executor(seed);
  MemoryObjects objects({.executor = &executor, .seed = seed});
  objects.set_faults({.lost_request = 0.1, .lost_reply = 0.1, .late = 0.1, .duplicated = 0.1, .slow = 0.1});
  std::string history;
  const auto one = objects.connect(), two = objects.connect();
  for (int i = 0; i < 100; ++i) {
    ObjectStore& writer = i % 2 == 0 ? *one : *two;
    writer.mutate("o", Mutation().append(std::to_string(i) + ","), [&history, &executor, i](Reply reply) {
      history +=
          std::to_string(executor.now_micros()) + " " + std::to_string(i) + " " + to_string(reply) + "\n";
    });
    executor.run_for(100);
  }
  executor.run_until_idle();
  one->read("o", Read::data(0, 1 << 20), [&history](ReadReply found) { history += found.data; });
  executor.run_until_idle();
  return history;
}

TEST(MemoryObjects, ASeedReplays) {
  EXPECT_EQ(run(1), run(1));
  EXPECT_NE(run(1), run(2));
}

TEST(MemoryObjects, FaultsDoWhatTheirNamesSay) {
  base::SimulatedExecutor executor(1);
  MemoryObjects objects({.executor = &executor});
  const auto store = objects.connect();
  const auto append_with = [&](Fault fault) {
    objects.set_fault_choice([fault](const OperationInfo&) { return fault; });
    std::optional<Reply> reply;
    const int64_t started = executor.now_micros();
    store->mutate("o", Mutation().append("x"), [&reply](Reply given) { reply = given; });
    while (!reply) executor.run_one();
    objects.set_fault_choice({});
    const int64_t taken = executor.now_micros() - started;
    if (reply->outcome == Outcome::unknown) {
      EXPECT_GE(taken, Faults{}.timeout_micros);
    }
    std::optional<uint64_t> size_then;
    store->read("o", Read::state(), [&size_then](const ReadReply& found) { size_then = found.size; });
    while (!size_then) executor.run_one();
    executor.run_until_idle();
    uint64_t size_later = 0;
    store->read("o", Read::state(), [&size_later](const ReadReply& found) { size_later = found.size; });
    executor.run_until_idle();
    return std::tuple(reply->outcome, *size_then, size_later);
  };
  EXPECT_EQ(append_with(Fault::none), std::tuple(Outcome::done, 1U, 1U));
  EXPECT_EQ(append_with(Fault::lost_request), std::tuple(Outcome::unknown, 1U, 1U));
  EXPECT_EQ(append_with(Fault::lost_reply), std::tuple(Outcome::unknown, 2U, 2U));
  EXPECT_EQ(append_with(Fault::late), std::tuple(Outcome::unknown, 2U, 3U));
  EXPECT_EQ(append_with(Fault::duplicated), std::tuple(Outcome::unknown, 4U, 5U));
  EXPECT_EQ(append_with(Fault::slow), std::tuple(Outcome::done, 6U, 6U));
  EXPECT_EQ(objects.counts().late, 1U);
}

TEST(MemoryObjects, ALateMutationOfAFencedClientIsDropped) {
  base::SimulatedExecutor executor(1);
  MemoryObjects objects({.executor = &executor});
  const auto dead = objects.connect(), alive = objects.connect();
  objects.set_fault_choice([](const OperationInfo&) { return Fault::late; });
  dead->mutate("o", Mutation().append("x"), [](Reply reply) { EXPECT_EQ(reply.outcome, Outcome::unknown); });
  objects.set_fault_choice({});
  alive->fence(dead->client(), [](Reply reply) { EXPECT_TRUE(reply.is_done()); });
  executor.run_until_idle();
  EXPECT_TRUE(objects.names().empty());
}

TEST(MemoryObjects, DestroyingAClientDropsItsCallbacksButNotItsMutations) {
  base::SimulatedExecutor executor(1);
  MemoryObjects objects({.executor = &executor});
  auto crashing = objects.connect();
  crashing->mutate("o", Mutation().append("x"), [](Reply) { FAIL() << "called after the crash"; });
  crashing.reset();
  executor.run_until_idle();
  EXPECT_EQ(objects.names(), std::vector<std::string>{"o"});
}

TEST(MemoryObjects, AClientThatIsCutOffReachesNothingAndItsWatchesFail) {
  base::SimulatedExecutor executor(1);
  MemoryObjects objects({.executor = &executor});
  const auto store = objects.connect();
  store->mutate("o", Mutation().create(), [](Reply) {});
  executor.run_until_idle();
  int errors = 0;
  std::unique_ptr<Watch> watch;
  store->watch("o", {{}, [&errors] { ++errors; }}, [&watch](Reply, auto made) { watch = std::move(made); });
  executor.run_until_idle();
  objects.set_cut_off(store->client(), true);
  EXPECT_EQ(errors, 1);
  Outcome outcome = Outcome::done;
  store->read("o", Read::state(), [&outcome](const ReadReply& found) { outcome = found.reply.outcome; });
  executor.run_until_idle();
  EXPECT_EQ(outcome, Outcome::unknown);
  objects.set_cut_off(store->client(), false);
  store->read("o", Read::state(), [&outcome](const ReadReply& found) { outcome = found.reply.outcome; });
  executor.run_until_idle();
  EXPECT_EQ(outcome, Outcome::done);
}

TEST(MemoryObjects, RefusesWhatExceedsItsCapacity) {
  MemoryObjects objects({.capacity = 100});
  const auto store = objects.connect();
  Blocking blocking(*store);
  EXPECT_TRUE(blocking.mutate("o", Mutation().append(Bytes(90, 'x'))).is_done());
  EXPECT_TRUE(blocking.mutate("p", Mutation().append(Bytes(20, 'x'))).is_refused(Reason::full));
  EXPECT_TRUE(blocking.mutate("o", Mutation().remove()).is_done());
  EXPECT_TRUE(blocking.mutate("p", Mutation().append(Bytes(20, 'x'))).is_done());
}

}  // namespace
}  // namespace sibyl::storage::objects
