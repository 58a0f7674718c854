// The conformance suite for stores. The test of each store runs it and compares the store with a std::map.
//
// A store's test includes this header once, derives a Harness and instantiates the suite:
//   INSTANTIATE_TEST_SUITE_P(Memory, StoreConformance, testing::Values(make_harness));
#pragma once

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <array>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "row/fragment_generator.h"
#include "row/merge.h"
#include "row/record_key.h"
#include "storage/partition_sample.h"
#include "storage/store.h"

namespace sibyl::storage::conformance {

// A store under test and the controls that the tests need.
class Harness {
 public:
  virtual ~Harness() = default;
  virtual Store& store() = 0;
  virtual base::ManualClock& clock() = 0;
  // true: all following commits fail. false: commits succeed again.
  virtual void fail_commits(bool fail) = 0;
  // Closes and reopens the store. Does nothing for a store without files.
  virtual void reopen() {}
};

using MakeHarness = std::function<std::unique_ptr<Harness>()>;
class StoreConformance : public testing::TestWithParam<MakeHarness> {};

using State = std::map<Bytes, Bytes>;

inline void apply_to_model(const WriteSet& writes, State& state) {
  for (const WriteSet::Operation& operation : writes.operations()) {
    const auto found = state.find(operation.key);
    switch (operation.action) {
      case WriteSet::Action::merge:
        if (found == state.end()) {
          state[operation.key] = operation.value;
        } else {
          Bytes merged;
          row::merge(std::array<BytesView, 2>{found->second, operation.value}, merged);
          found->second = merged;
        }
        break;
      case WriteSet::Action::put:
        state[operation.key] = operation.value;
        break;
      case WriteSet::Action::erase:
        state.erase(operation.key);
        break;
      case WriteSet::Action::erase_range:
        if (operation.key < operation.value)
          state.erase(state.lower_bound(operation.key), state.lower_bound(operation.value));
        break;
    }
  }
}

inline State slice(const State& state, const Bytes& begin, const Bytes& end) {
  State result;
  for (const auto& [key, value] : state)
    if (key >= begin && (end.empty() || key < end)) result.emplace(key, value);
  return result;
}

inline State forwards(Iterator& iterator) {
  State records;
  for (iterator.seek_to_first(); iterator.valid(); iterator.next())
    EXPECT_TRUE(records.emplace(Bytes(iterator.key()), Bytes(iterator.value())).second);
  EXPECT_TRUE(iterator.status().has_value());
  return records;
}

inline State backwards(Iterator& iterator) {
  State records;
  Bytes last;
  for (iterator.seek_to_last(); iterator.valid(); iterator.prev()) {
    if (!records.empty()) {
      EXPECT_LT(iterator.key(), last);
    }
    last = iterator.key();
    records.emplace(last, Bytes(iterator.value()));
  }
  EXPECT_TRUE(iterator.status().has_value());
  return records;
}

// Reads with every function and compares with the expected state.
template <typename Readable>
void expect_state(const Readable& readable, const State& expected, const std::vector<Bytes>& keys) {
  ASSERT_EQ(forwards(*readable.iterate({}, {})), expected);
  ASSERT_EQ(backwards(*readable.iterate({}, {})), expected);
  for (const Bytes& key : keys) {
    Bytes value = "untouched";
    const auto found = readable.get(key, value);
    ASSERT_TRUE(found.has_value());
    ASSERT_EQ(*found, expected.contains(key));
    if (*found) {
      ASSERT_EQ(value, expected.at(key));
    }
  }
}

inline void expect_many(const Store& store, const State& expected, const std::vector<Bytes>& keys) {
  std::vector<std::optional<Bytes>> values(keys.size(), "left over");
  ASSERT_TRUE(store.get_many(keys, values).has_value());
  for (size_t i = 0; i < keys.size(); ++i) {
    ASSERT_EQ(values[i].has_value(), expected.contains(keys[i]));
    if (values[i]) {
      ASSERT_EQ(*values[i], expected.at(keys[i]));
    }
  }
}

// Compares seeks from every key, within bounds.
template <typename Readable>
void expect_seeks(const Readable& readable, const State& state, const Bytes& begin, const Bytes& end,
                  const std::vector<Bytes>& keys) {
  const State expected = slice(state, begin, end);
  const auto iterator = readable.iterate(begin, end);
  ASSERT_EQ(forwards(*iterator), expected);
  ASSERT_EQ(backwards(*iterator), expected);
  for (const Bytes& key : keys) {
    iterator->seek(key);
    const auto at_or_after = expected.lower_bound(key);
    ASSERT_EQ(iterator->valid(), at_or_after != expected.end());
    if (iterator->valid()) {
      ASSERT_EQ(iterator->key(), at_or_after->first);
    }
    iterator->seek_for_prev(key);
    auto at_or_before = expected.upper_bound(key);
    ASSERT_EQ(iterator->valid(), at_or_before != expected.begin());
    if (iterator->valid()) {
      ASSERT_EQ(iterator->key(), std::prev(at_or_before)->first);
    }
  }
}

inline const std::vector<Bytes>& some_keys() {
  static const std::vector<Bytes> keys = {Bytes("\0", 1), "a", Bytes("a\0", 2), "ab",      "b", "c",
                                          "ca",           "d", "\xff",          "\xff\xff"};
  return keys;
}

inline WriteSet some_writes() {
  WriteSet writes;
  const auto key = [] { return *rc::gen::elementOf(some_keys()); };
  for (int i = *rc::gen::inRange(1, 5); i > 0; --i) {
    switch (*rc::gen::inRange(0, 8)) {
      case 0:
        writes.put(key(), *rc::gen::element<Bytes>("", "value", "other"));
        break;
      case 1:
        writes.erase(key());
        break;
      case 2:
        writes.erase_range(key(), key());
        break;
      default:
        writes.merge(key(), row::generate::anything());
        break;
    }
  }
  return writes;
}

// Runs random sequences of operations. The store must always equal the map; snapshots and iterators must not
// change.
inline void behave_as_a_map(Harness& harness) {
  struct Kept {
    std::shared_ptr<const Snapshot> snapshot;
    std::unique_ptr<Iterator> iterator;
    State state;
  };
  State state;
  std::vector<Kept> kept;
  for (int step = *rc::gen::inRange(1, 40); step > 0; --step) {
    switch (*rc::gen::inRange(0, 16)) {
      case 0:
        kept.push_back({harness.store().snapshot(), harness.store().iterate({}, {}), state});
        break;
      case 1:
        if (!kept.empty()) kept.erase(kept.begin() + *rc::gen::inRange<std::ptrdiff_t>(0, std::ssize(kept)));
        break;
      case 2:
        ASSERT_TRUE(harness.store().flush().has_value());
        break;
      case 3:
        if (kept.empty()) {
          ASSERT_TRUE(harness.store().compact({}, {}).has_value());
        }
        break;
      case 4:
        kept.clear();
        harness.reopen();
        break;
      case 5: {
        WriteSet writes = some_writes();
        writes.put("a", "never seen");  // ensures that the write set is not empty, so that a write can fail
        harness.fail_commits(true);
        const auto status = harness.store().commit(std::move(writes));
        harness.fail_commits(false);
        ASSERT_FALSE(status.has_value());
        break;
      }
      default: {
        WriteSet writes = some_writes();
        apply_to_model(writes, state);
        ASSERT_TRUE(harness.store().commit(std::move(writes)).has_value());
      }
    }
    const Store& store = harness.store();
    ASSERT_NO_FATAL_FAILURE(expect_state(store, state, some_keys()));
    ASSERT_NO_FATAL_FAILURE(expect_many(store, state, some_keys()));
    const Bytes begin = *rc::gen::elementOf(some_keys()), end = *rc::gen::elementOf(some_keys());
    if (begin <= end) {
      ASSERT_NO_FATAL_FAILURE(expect_seeks(store, state, begin, end, some_keys()));
    }
  }
  for (const Kept& each : kept) {
    ASSERT_NO_FATAL_FAILURE(expect_state(*each.snapshot, each.state, some_keys()));
    ASSERT_EQ(forwards(*each.iterator), each.state);
  }
}

TEST_P(StoreConformance, BehavesAsAMap) {
  EXPECT_TRUE(rc::check([this] {
    const auto harness = GetParam()();
    behave_as_a_map(*harness);
    RC_ASSERT(!HasFailure());
  }));
}

TEST_P(StoreConformance, StartsEmpty) {
  const auto harness = GetParam()();
  EXPECT_EQ(forwards(*harness->store().iterate({}, {})), State{});
  EXPECT_EQ(harness->store().approximate_size({}, {}), 0u);
}

TEST_P(StoreConformance, AnEmptyWriteSetSucceeds) {
  const auto harness = GetParam()();
  EXPECT_TRUE(harness->store().commit(WriteSet()).has_value());
}

TEST_P(StoreConformance, OperationsOfAWriteSetApplyInOrder) {
  const auto harness = GetParam()();
  WriteSet writes, later;
  writes.put("a", "1");
  writes.erase_range("a", "b");
  later.put("a", "2");
  writes.append(std::move(later));
  EXPECT_TRUE(later.empty());
  EXPECT_EQ(writes.byte_size(), 6u);
  ASSERT_TRUE(harness->store().commit(std::move(writes)).has_value());
  EXPECT_EQ(forwards(*harness->store().iterate({}, {})), (State{{"a", "2"}}));
}

TEST_P(StoreConformance, AFailedCommitLeavesNothing) {
  const auto harness = GetParam()();
  WriteSet before, failing, after;
  before.put("before", "1");
  failing.put("failed", "1");
  failing.erase("before");
  after.put("after", "1");
  ASSERT_TRUE(harness->store().commit(std::move(before)).has_value());
  harness->fail_commits(true);
  const auto status = harness->store().commit(std::move(failing));
  ASSERT_FALSE(status.has_value());
  EXPECT_EQ(status.error().code(), base::ErrorCode::write_failure);
  harness->fail_commits(false);
  EXPECT_EQ(forwards(*harness->store().iterate({}, {})), (State{{"before", "1"}}));
  harness->reopen();
  ASSERT_TRUE(harness->store().commit(std::move(after)).has_value());
  harness->reopen();
  State state = forwards(*harness->store().iterate({}, {}));
  state.erase("before");
  EXPECT_FALSE(state.contains("failed"));
}

TEST_P(StoreConformance, ManyFragmentsOfOneRecordMerge) {
  const auto harness = GetParam()();
  State state;
  for (int i = 0; i < 500; ++i) {
    row::Fragment fragment;
    const Bytes path = std::to_string(i % 97), value = std::to_string(i);
    row::Cell cell;
    cell.path = path;
    cell.value = value;
    cell.timestamp = i;
    fragment.cells = {cell};
    Bytes bytes;
    row::encode(fragment, bytes);
    WriteSet writes;
    writes.merge("hot", bytes);
    apply_to_model(writes, state);
    ASSERT_TRUE(harness->store().commit(std::move(writes)).has_value());
  }
  EXPECT_EQ(forwards(*harness->store().iterate({}, {})), state);
  harness->reopen();
  EXPECT_EQ(forwards(*harness->store().iterate({}, {})), state);
}

// Each write set moves one unit between two records. No reader may see a different total.
TEST_P(StoreConformance, NoReaderSeesHalfAWriteSet) {
  const auto harness = GetParam()();
  Store& store = harness->store();
  const auto put_both = [&store](int left) {
    WriteSet writes;
    writes.put("left", std::to_string(left));
    writes.put("right", std::to_string(100 - left));
    return store.commit(std::move(writes));
  };
  ASSERT_TRUE(put_both(50).has_value());
  std::atomic<bool> done = false;
  std::atomic<int> torn = 0, reads = 0;
  std::vector<std::thread> readers;
  for (int kind = 0; kind < 3; ++kind) {
    readers.emplace_back([&, kind] {
      while (!done || reads < 100) {
        Bytes left, right;
        if (kind == 0) {
          std::vector<std::optional<Bytes>> values(2);
          if (!store.get_many(std::vector<Bytes>{"left", "right"}, values)) ++torn;
          left = values[0].value_or("0"), right = values[1].value_or("0");
        } else if (kind == 1) {
          const auto snapshot = store.snapshot();
          if (!snapshot->get("left", left) || !snapshot->get("right", right)) ++torn;
        } else {
          const auto iterator = store.iterate({}, {});
          iterator->seek_to_first();
          left = iterator->value();
          iterator->next();
          right = iterator->value();
        }
        if (std::stoi(left) + std::stoi(right) != 100) ++torn;
        ++reads;
      }
    });
  }
  for (int i = 0; i < 300; ++i) EXPECT_TRUE(put_both(i % 101).has_value());
  done = true;
  for (auto& reader : readers) reader.join();
  EXPECT_EQ(torn, 0);
}

TEST_P(StoreConformance, ConcurrentCommitsAllHappenAndAreCounted) {
  const auto harness = GetParam()();
  Store& store = harness->store();
  std::vector<std::thread> writers;
  std::atomic<int> failures = 0;
  for (int writer = 0; writer < 4; ++writer) {
    writers.emplace_back([&, writer] {
      std::vector<std::promise<base::Status>> results(100);
      for (size_t i = 0; i < results.size(); ++i) {
        WriteSet writes;
        writes.put(std::to_string(writer) + "/" + std::to_string(i), "v");
        store.commit(std::move(writes),
                     [&results, i](base::Status status) { results[i].set_value(std::move(status)); });
      }
      for (auto& result : results)
        if (!result.get_future().get()) ++failures;
    });
  }
  for (auto& writer : writers) writer.join();
  EXPECT_EQ(failures, 0);
  EXPECT_EQ(forwards(*store.iterate({}, {})).size(), 400u);
  EXPECT_EQ(store.statistics().commits, 400u);
  EXPECT_GE(store.statistics().commits, store.statistics().commit_groups);
  EXPECT_GT(store.statistics().bytes_in_memory, 0u);
}

TEST_P(StoreConformance, ApproximateSizeGrowsWithTheData) {
  const auto harness = GetParam()();
  for (int i = 0; i < 64; ++i) {
    WriteSet writes;
    for (int j = 0; j < 64; ++j)
      writes.put("k" + std::to_string(i * 64 + j), Bytes(256, static_cast<char>('a' + j % 26)));
    ASSERT_TRUE(harness->store().commit(std::move(writes)).has_value());
  }
  ASSERT_TRUE(harness->store().flush().has_value());
  EXPECT_GT(harness->store().approximate_size({}, {}), 10'000u);
  EXPECT_GT(harness->store().approximate_size("k", "l"), 10'000u);
  EXPECT_EQ(harness->store().approximate_size("x", "y"), 0u);
}

TEST_P(StoreConformance, SamplesDescribePartitions) {
  constexpr uint32_t table = 2000;
  const auto harness = GetParam()();
  Store& store = harness->store();
  const auto put = [&](int first_row) {
    WriteSet writes;
    for (int i = 0; i < 400; ++i) {
      const auto token = static_cast<int64_t>(static_cast<uint64_t>(i) * 0x9e3779b97f4a7c15u);
      const Bytes prefix = row::partition_prefix(table, token, std::to_string(i));
      for (int k = 0; k < (i == 7 ? 50 : 2); ++k)
        writes.put(row::row_record_key(prefix, std::to_string(first_row + k)), "value");
    }
    ASSERT_TRUE(store.commit(std::move(writes)).has_value());
  };
  const auto expect = [&](uint64_t times) {
    const PartitionSample::Summary found =
        store.partition_samples(std::array{table}, 1'000'000).at(table).summary();
    EXPECT_EQ(found.partitions, 400u);
    EXPECT_EQ(found.rows, times * 848u);
    EXPECT_EQ(found.partition_rows.p50, times * 2);
    EXPECT_EQ(found.partition_rows.max, times * 50);
  };
  EXPECT_EQ(store.partition_samples(std::array{table}, 10).at(table).summary().rows, 0u);
  put(1000);
  expect(1);
  // Samples only the first quarter. Tokens are evenly distributed, so a quarter is enough.
  const auto some = store.partition_samples(std::array{table}, 200).at(table).summary();
  EXPECT_NEAR(static_cast<double>(some.rows), 848, 200);
  ASSERT_TRUE(store.flush().has_value());
  expect(1);
  put(2000);
  expect(2);  // half of the records are in files, the other half in memory
  ASSERT_TRUE(store.flush().has_value());
  expect(2);
  ASSERT_TRUE(store.compact({}, {}).has_value());
  expect(2);
  WriteSet erase;
  erase.erase_range(row::table_begin(table), row::table_end(table));
  ASSERT_TRUE(store.commit(std::move(erase)).has_value());
  EXPECT_EQ(store.partition_samples(std::array{table}, 1000).at(table).summary().rows, 0u);
  put(3000);
  expect(1);
  ASSERT_TRUE(store.flush().has_value());
  expect(1);
  // RocksDB zeroes the sequence numbers of records that have nothing below them.
  ASSERT_TRUE(store.compact({}, {}).has_value());
  expect(1);
}

TEST_P(StoreConformance, FewLargePartitionsAreNotTakenForMany) {
  constexpr uint32_t table = 2000;
  constexpr int rows = 20'000;
  const auto harness = GetParam()();
  Store& store = harness->store();
  // The prefix is near the beginning of the ring.
  const Bytes prefix = row::partition_prefix(table, std::numeric_limits<int64_t>::min() / 100 * 99, "p");
  WriteSet writes;
  for (int i = 0; i < rows; ++i)
    writes.put(row::row_record_key(prefix, std::to_string(100'000 + i)), "value");
  ASSERT_TRUE(store.commit(std::move(writes)).has_value());
  const auto found = store.partition_samples(std::array{table}, 1000).at(table).summary();
  EXPECT_EQ(found.partitions, 1u);
  // Estimates of data in memory may be rough.
  EXPECT_GE(found.rows, rows / 10u);
  EXPECT_LE(found.rows, rows * 10u);
}

}  // namespace sibyl::storage::conformance
