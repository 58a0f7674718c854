// Conditional writes and serial reads by many concurrent threads. The history of each partition must be
// linearizable.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <future>
#include <latch>
#include <random>
#include <thread>

#include "base/test_directory.h"
#include "engine/engine.h"
#include "execute/write/batch.h"
#include "linearizability/history.h"
#include "types/value.h"

namespace sibyl::linearizability {
namespace {

using types::ValueView;
using Kind = Operation::Kind;

// --- The checker must reject invalid histories.

Operation operation(Kind kind, uint64_t called, uint64_t returned, State expected, State written,
                    bool applied, State seen) {
  Operation one;
  one.kind = kind;
  one.called = called;
  one.returned = returned;
  one.expected = expected;
  one.written = written;
  one.applied = applied;
  one.seen = seen;
  return one;
}
Operation read(uint64_t called, uint64_t returned, State seen) {
  return operation(Kind::read, called, returned, {}, {}, true, seen);
}
Operation insert(uint64_t called, uint64_t returned, int32_t value) {
  return operation(Kind::insert, called, returned, {}, {value, {}}, true, {});
}
Operation exchange(uint64_t called, uint64_t returned, int32_t expected, int32_t value, bool applied = true,
                   Value seen = {}) {
  return operation(Kind::exchange, called, returned, {expected, {}}, {value, {}}, applied, {seen, {}});
}
bool check(std::vector<Operation> history) {
  return is_linearizable(history);
}

TEST(Checker, AcceptsWhatOneThreadCouldHaveDone) {
  EXPECT_TRUE(check({}));
  EXPECT_TRUE(check({read(1, 2, {}), insert(3, 4, 7), read(5, 6, {7, {}}), exchange(7, 8, 7, 8)}));
  // The read was called first, and saw the effect of later calls.
  EXPECT_TRUE(check({read(1, 6, {8, {}}), insert(2, 3, 7), exchange(4, 5, 7, 8)}));
  // Called last, took effect first.
  EXPECT_TRUE(check({exchange(2, 9, 7, 8), insert(3, 8, 7)}));
  EXPECT_TRUE(check({insert(1, 2, 7), exchange(3, 6, 7, 8), exchange(4, 5, 7, 9, false, 8)}));
}

TEST(Checker, RejectsAValueThatWasNeverWritten) {
  EXPECT_FALSE(check({insert(1, 2, 7), read(3, 4, {8, {}})}));
}

TEST(Checker, RejectsAStaleRead) {
  EXPECT_FALSE(check({insert(1, 2, 7), exchange(3, 4, 7, 8), read(5, 6, {7, {}})}));
  EXPECT_FALSE(check({insert(1, 2, 7), read(3, 4, {})}));
}

TEST(Checker, RejectsReadsThatGoBack) {
  // Both reads overlap the write, but the first read ended before the second began.
  EXPECT_FALSE(check({insert(1, 10, 7), read(2, 3, {7, {}}), read(4, 5, {})}));
  EXPECT_TRUE(check({insert(1, 10, 7), read(2, 3, {}), read(4, 5, {7, {}})}));
}

TEST(Checker, RejectsALostUpdate) {
  EXPECT_FALSE(check({insert(1, 2, 7), exchange(3, 6, 7, 8), exchange(4, 5, 7, 9)}));
  EXPECT_FALSE(check({insert(1, 4, 7), insert(2, 3, 8)}));
}

TEST(Checker, RejectsAnUnexplainedRejection) {
  EXPECT_FALSE(check({insert(1, 2, 7), exchange(3, 4, 7, 8, false, 7)}));
  EXPECT_FALSE(check({insert(1, 2, 7), exchange(3, 4, 9, 8, false, 6)}));
}

TEST(Checker, RejectsHalfABatch) {
  const Operation both = operation(Kind::batch, 1, 9, {}, {7, 8}, true, {});
  EXPECT_TRUE(check({both, read(2, 3, {}), read(4, 5, {7, 8})}));
  EXPECT_FALSE(check({both, read(2, 3, {7, {}})}));
}

// --- The database

// The registers of one database. Thread-safe.
class Registers {
 public:
  explicit Registers(engine::Engine& engine) : engine_(engine) {
    must("CREATE KEYSPACE r WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}");
    must("CREATE TABLE r.t (k int, c int, v int, PRIMARY KEY (k, c))");
    read_ = prepare("SELECT c, v FROM r.t WHERE k = ?");
    insert_ = prepare("INSERT INTO r.t (k, c, v) VALUES (?, ?, ?) IF NOT EXISTS");
    exchange_ = prepare("UPDATE r.t SET v = ? WHERE k = ? AND c = ? IF v = ?");
    remove_ = prepare("DELETE FROM r.t WHERE k = ? AND c = ? IF v = ?");
  }

  // Executes `operation`, and stores the result in it.
  void run(int32_t partition, Operation& operation) {
    Values values;
    const auto number = [&](int32_t value) { values.add(value); };
    const auto where = static_cast<int32_t>(operation.where);
    execute::Request request;
    switch (operation.kind) {
      case Kind::read:
        number(partition);
        request.consistency = execute::Consistency::serial;
        return keep(execute(read_, values, request, operation), operation, 0);
      case Kind::insert:
        number(partition), number(where), number(*operation.written[operation.where]);
        return keep(execute(insert_, values, request, operation), operation, 1);
      case Kind::exchange:
        number(*operation.written[operation.where]), number(partition), number(where);
        number(*operation.expected[operation.where]);
        return keep(execute(exchange_, values, request, operation), operation, 1);
      case Kind::remove:
        number(partition), number(where), number(*operation.expected[operation.where]);
        return keep(execute(remove_, values, request, operation), operation, 1);
      case Kind::batch:
        return run_batch(partition, operation);
    }
  }

 private:
  struct Values {
    void add(int32_t value) { bytes.push_back(types::encode_int32(value)); }
    std::vector<ValueView> views() const {
      std::vector<ValueView> all;
      for (const base::Bytes& one : bytes) all.push_back(ValueView::of(one));
      return all;
    }
    std::vector<base::Bytes> bytes;
  };
  using Answer = base::Result<execute::ResultSet>;

  plan::PreparedPtr prepare(const char* text) {
    auto prepared = engine_.planner().prepare(text, "");
    EXPECT_TRUE(prepared) << text << ": " << prepared.error().text();
    return prepared ? prepared->plan : nullptr;
  }
  void must(const char* text) {
    Operation ignored;
    const auto plan = engine_.planner().plan_query(text, "");
    ASSERT_TRUE(plan) << plan.error().text();
    const Answer answer = execute(*plan, {}, {}, ignored);
    ASSERT_TRUE(answer) << answer.error().text();
  }

  Answer execute(const plan::PreparedPtr& plan, const Values& values, execute::Request request,
                 Operation& operation) {
    const std::vector<ValueView> views = values.views();
    request.values = views;
    std::promise<Answer> promise;
    operation.called = ++clock_;
    std::this_thread::yield();  // lets calls overlap even on a busy machine
    engine_.executor().execute(plan, request, [&](Answer answer) { promise.set_value(std::move(answer)); });
    Answer answer = promise.get_future().get();
    operation.returned = ++clock_;
    return answer;
  }

  // Uses the protocol's BATCH.
  void run_batch(int32_t partition, Operation& operation) {
    std::vector<Values> values(registers);
    std::vector<std::vector<ValueView>> views;
    std::vector<execute::BatchItem> items;
    for (size_t i = 0; i < registers; ++i) {
      if (!operation.expected[i]) {
        values[i].add(partition), values[i].add(static_cast<int32_t>(i)),
            values[i].add(*operation.written[i]);
      } else {
        values[i].add(*operation.written[i]), values[i].add(partition),
            values[i].add(static_cast<int32_t>(i));
        values[i].add(*operation.expected[i]);
      }
      views.push_back(values[i].views());
      items.push_back({operation.expected[i] ? exchange_ : insert_, views.back()});
    }
    std::promise<Answer> promise;
    operation.called = ++clock_;
    std::this_thread::yield();  // lets calls overlap even on a busy machine
    engine_.executor().execute_batch(cql::Batch::Kind::logged, std::move(items), {},
                                     [&](Answer answer) { promise.set_value(std::move(answer)); });
    Answer answer = promise.get_future().get();
    operation.returned = ++clock_;
    keep(std::move(answer), operation, 1);
  }

  // Reads rows by column name: [applied], c and v.
  static void keep(const Answer& answer, Operation& operation, size_t has_applied) {
    ASSERT_TRUE(answer) << answer.error().text();
    operation.applied = has_applied == 0;
    base::Reader reader(answer->rows.bytes());
    for (size_t row = 0; row < answer->rows.count(); ++row) {
      size_t where = operation.where;
      Value value;
      for (const plan::ColumnSpec& column : answer->metadata->columns) {
        uint32_t size = 0;
        base::BytesView bytes;
        ASSERT_TRUE(reader.big_endian(size) && (static_cast<int32_t>(size) < 0 || reader.take(size, bytes)));
        if (column.name == "[applied]") operation.applied = types::decode_boolean(bytes);
        if (bytes.size() != 4) continue;
        const auto number = static_cast<int32_t>(types::decode_integer(types::Kind::int_, bytes));
        if (column.name == "c") where = static_cast<size_t>(number);
        if (column.name == "v") value = number;
      }
      ASSERT_LT(where, registers);
      operation.seen[where] = value;
    }
  }

  engine::Engine& engine_;
  plan::PreparedPtr read_, insert_, exchange_, remove_;
  std::atomic<uint64_t> clock_{0};
};

// Chooses the next operation of a client, given the last state that it saw.
Operation choose(std::mt19937& random, const State& seen) {
  const auto below = [&](int32_t end) { return std::uniform_int_distribution<int32_t>(0, end - 1)(random); };
  constexpr int32_t values = 5;
  Operation next;
  next.where = static_cast<size_t>(below(registers));
  const int32_t dice = below(10);
  next.kind = dice < 2   ? Kind::read
              : dice < 4 ? Kind::insert
              : dice < 7 ? Kind::exchange
              : dice < 8 ? Kind::remove
                         : Kind::batch;
  next.expected = seen;
  for (Value& one : next.written) one = below(values);
  // These statements cannot compare with null by =.
  if (next.kind != Kind::batch && !next.expected[next.where]) next.expected[next.where] = below(values);
  return next;
}

struct Shape {
  const char* store;
  size_t threads, partitions, operations;
};

class Linearizability : public testing::TestWithParam<Shape> {};
INSTANTIATE_TEST_SUITE_P(Stores, Linearizability,
                         testing::Values(Shape{"memory", 8, 3, 300}, Shape{"rocksdb", 8, 2, 150}),
                         [](const auto& info) { return std::string(info.param.store); });

TEST_P(Linearizability, OfConditionalWrites) {
  const Shape& shape = GetParam();
  const base::TemporaryDirectory directory;
  engine::Options options;
  if (std::string_view(shape.store) == "rocksdb") options.data = directory.path() + "/data";
  auto engine = engine::Engine::open(options);
  ASSERT_TRUE(engine) << engine.error().text();
  Registers database(**engine);

  std::vector<std::vector<std::vector<Operation>>> histories(
      shape.threads, std::vector<std::vector<Operation>>(shape.partitions));
  std::vector<std::thread> threads;
  std::latch start(static_cast<ptrdiff_t>(shape.threads));
  for (size_t thread = 0; thread < shape.threads; ++thread) {
    threads.emplace_back([&, thread] {
      start.arrive_and_wait();
      std::mt19937 random(static_cast<uint32_t>(thread));
      std::vector<State> seen(shape.partitions);
      for (size_t i = 0; i < shape.operations; ++i) {
        const size_t partition = random() % shape.partitions;
        Operation next = choose(random, seen[partition]);
        database.run(static_cast<int32_t>(partition), next);
        State& known = seen[partition];
        if (next.kind == Kind::read || next.kind == Kind::batch) {
          known = next.applied && next.kind == Kind::batch ? next.written : next.seen;
        } else {
          known[next.where] = !next.applied               ? next.seen[next.where]
                              : next.kind == Kind::remove ? Value()
                                                          : next.written[next.where];
        }
        histories[thread][partition].push_back(next);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();

  for (size_t partition = 0; partition < shape.partitions; ++partition) {
    std::vector<Operation> history;
    for (const auto& of_thread : histories)
      history.insert(history.end(), of_thread[partition].begin(), of_thread[partition].end());
    std::sort(history.begin(), history.end(),
              [](const Operation& left, const Operation& right) { return left.called < right.called; });
    size_t applied = 0, refused = 0, overlapping = 0;
    uint64_t latest_return = 0;
    for (const Operation& one : history) {
      if (one.kind != Kind::read) ++(one.applied ? applied : refused);
      if (one.called < latest_return) ++overlapping;
      latest_return = std::max(latest_return, one.returned);
    }
    // A history without effects, or without concurrency, proves nothing.
    EXPECT_GT(applied, history.size() / 20);
    EXPECT_GT(refused, history.size() / 20);
    EXPECT_GT(overlapping, history.size() / 20);
    std::string text;
    if (!is_linearizable(history))
      for (const Operation& one : history) text += one.print() + "\n";
    EXPECT_EQ(text, "") << "not linearizable: partition " << partition;

    // The same history with one result changed to a value that was never written.
    history[history.size() / 2] =
        read(history[history.size() / 2].called, history[history.size() / 2].returned, State{99, 99});
    EXPECT_FALSE(is_linearizable(history));
  }
}

// --- Counters, and deletions of counters

// Four threads increment a counter repeatedly, and count their increments.
class Increments {
 public:
  explicit Increments(engine::Engine& engine) : engine_(engine) {
    run("CREATE KEYSPACE r WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}");
    run("CREATE TABLE r.n (k int PRIMARY KEY, n counter)");
    for (int i = 0; i < 4; ++i) threads_.emplace_back([this] { work(); });
  }
  ~Increments() {
    stop_ = true;
    for (std::thread& thread : threads_) thread.join();
  }

  base::Bytes run(const char* text) {
    const auto plan = engine_.planner().plan_query(text, "");
    EXPECT_TRUE(plan) << text;
    std::promise<base::Bytes> promise;
    engine_.executor().execute(*plan, {}, [&](base::Result<execute::ResultSet> answer) {
      EXPECT_TRUE(answer) << text;
      promise.set_value(answer ? base::Bytes(answer->rows.bytes()) : base::Bytes());
    });
    return promise.get_future().get();
  }
  int64_t value() {
    const base::Bytes row = run("SELECT n FROM r.n WHERE k = 1");
    return row.size() == 12 ? types::decode_integer(types::Kind::bigint, std::string_view(row).substr(4)) : 0;
  }
  int64_t begun() const { return begun_; }
  int64_t done() const { return done_; }
  void await(int64_t done) const {
    while (done_ < done) std::this_thread::yield();
  }

 private:
  void work() {
    while (!stop_) {
      ++begun_;
      run("UPDATE r.n SET n += 1 WHERE k = 1");
      ++done_;
    }
  }

  engine::Engine& engine_;
  std::atomic<int64_t> begun_{0}, done_{0};
  std::atomic<bool> stop_{false};
  std::vector<std::thread> threads_;
};

// Increments that were acknowledged before the deletion was sent have no effect after its response.
TEST_P(Linearizability, OfCountersThatAreDeleted) {
  const base::TemporaryDirectory directory;
  engine::Options options;
  if (std::string_view(GetParam().store) == "rocksdb") options.data = directory.path() + "/data";
  auto engine = engine::Engine::open(options);
  ASSERT_TRUE(engine) << engine.error().text();
  Increments counter(**engine);
  for (const char* taking_away : {"TRUNCATE r.n", "DELETE FROM r.n WHERE k = 1"}) {
    for (int round = 0; round < 10; ++round) {
      counter.await(counter.done() + 20);
      const int64_t done_before = counter.done();
      counter.run(taking_away);
      const int64_t value = counter.value();
      EXPECT_LE(value, counter.begun() - done_before) << taking_away << ", round " << round;
    }
  }
}

}  // namespace
}  // namespace sibyl::linearizability
