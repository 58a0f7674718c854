// The RocksDB store under a load like the server's: many small commits in flight, point reads, seeks.
//
//   rocksdb_benchmark --benchmark_filter=commit
//
// `cpu_us` is the CPU time of the whole process per operation, in microseconds. `group` is the number of
// write sets per sync.
#include <benchmark/benchmark.h>
#include <sys/resource.h>

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <random>
#include <thread>

#include "base/test_directory.h"
#include "row/fragment.h"
#include "row/record_key.h"
#include "storage/rocksdb/rocksdb_store.h"

namespace sibyl::storage::rocksdb {
namespace {

using base::TemporaryDirectory;

double cpu_microseconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto micros = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) * 1e6 + static_cast<double>(time.tv_usec);
  };
  return micros(usage.ru_utime) + micros(usage.ru_stime);
}

Bytes key_of(uint64_t number) {
  Bytes partition;
  base::append_big_endian(partition, number);
  return row::row_record_key(row::partition_prefix(1024, partition), {});
}

// A row of 100 bytes in five columns, as written by a prepared INSERT.
Bytes row_of(uint64_t number) {
  static const Bytes value(18, 'v');
  thread_local row::Fragment fragment;
  fragment.marker.timestamp = static_cast<int64_t>(1'700'000'000'000'000 + number);
  fragment.cells.resize(5);
  for (uint32_t column = 0; column < 5; ++column) {
    fragment.cells[column].column = column;
    fragment.cells[column].timestamp = fragment.marker.timestamp;
    fragment.cells[column].value = value;
  }
  Bytes bytes;
  row::encode(fragment, bytes);
  return bytes;
}

// Keeps `in_flight` commits in flight from one thread, like a reactor.
void commits(benchmark::State& state, Durability durability) {
  TemporaryDirectory directory;
  Options options;
  options.durability = durability;
  const auto store = std::move(*open_store(directory.path(), options));
  const auto in_flight = static_cast<int>(state.range(0));
  std::mutex mutex;
  std::condition_variable changed;
  int pending = 0;
  uint64_t number = 0;
  std::mt19937_64 random(1);
  const double cpu_before = cpu_microseconds();
  for (auto _ : state) {
    WriteSet writes;
    writes.merge(key_of(random() % 1'000'000), row_of(++number));
    {
      std::unique_lock lock(mutex);
      // Waits until half of the commits have finished, so that the benchmark does not add a wake-up per
      // commit.
      if (pending == in_flight) changed.wait(lock, [&] { return pending <= in_flight / 2; });
      ++pending;
    }
    store->commit(std::move(writes), [&](base::Status status) {
      if (!status) std::abort();
      const std::lock_guard lock(mutex);
      if (--pending == in_flight / 2 || pending == 0) changed.notify_one();
    });
  }
  std::unique_lock lock(mutex);
  changed.wait(lock, [&] { return pending == 0; });
  const auto statistics = store->statistics();
  state.counters["cpu_us"] = (cpu_microseconds() - cpu_before) / static_cast<double>(state.iterations());
  state.counters["group"] =
      static_cast<double>(statistics.commits) / static_cast<double>(statistics.commit_groups);
  state.SetItemsProcessed(state.iterations());
}
void commit_synced(benchmark::State& state) {
  commits(state, Durability::synced);
}
void commit_periodic(benchmark::State& state) {
  commits(state, Durability::periodic);
}
BENCHMARK(commit_synced)->Arg(1)->Arg(16)->Arg(64)->Arg(256)->UseRealTime();
BENCHMARK(commit_periodic)->Arg(64)->UseRealTime();

// A store with a million rows, created once: half of them compacted, the rest in new files.
Store& filled_store() {
  static TemporaryDirectory directory;
  static const std::unique_ptr<Store> store = [] {
    Options options;
    options.durability = Durability::periodic;
    auto opened = std::move(*open_store(directory.path(), options));
    for (uint64_t i = 0; i < 1'000'000; i += 1000) {
      WriteSet writes;
      for (uint64_t j = i; j < i + 1000; ++j) writes.merge(key_of(j), row_of(j));
      if (!opened->commit(std::move(writes))) std::abort();
    }
    if (!opened->compact({}, {})) std::abort();
    return opened;
  }();
  return *store;
}

void get_random(benchmark::State& state) {
  Store& store = filled_store();
  std::mt19937_64 random(2);
  Bytes value;
  for (auto _ : state) {
    const auto found = store.get(key_of(random() % 1'000'000), value);
    if (!found || !*found) state.SkipWithError("missing");
  }
}
BENCHMARK(get_random);

void get_missing(benchmark::State& state) {
  Store& store = filled_store();
  std::mt19937_64 random(3);
  Bytes value;
  for (auto _ : state) benchmark::DoNotOptimize(store.get(key_of(1'000'000 + random() % 1'000'000), value));
}
BENCHMARK(get_missing);

// Reads a row and its partition's record, as a point read does.
void get_many_two(benchmark::State& state) {
  Store& store = filled_store();
  std::mt19937_64 random(4);
  std::vector<Bytes> keys(2);
  std::vector<std::optional<Bytes>> values(2);
  for (auto _ : state) {
    keys[0] = key_of(random() % 1'000'000);
    keys[1] = keys[0];
    keys[1].back() = 0;
    if (!store.get_many(keys, values)) state.SkipWithError("failed");
  }
}
BENCHMARK(get_many_two);

void seek(benchmark::State& state) {
  Store& store = filled_store();
  std::mt19937_64 random(5);
  for (auto _ : state) {
    const Bytes key = key_of(random() % 1'000'000);
    const auto iterator = store.iterate(key, {});
    iterator->seek_to_first();
    if (!iterator->valid()) state.SkipWithError("missing");
  }
}
BENCHMARK(seek);

void scan(benchmark::State& state) {
  Store& store = filled_store();
  const auto iterator = store.iterate({}, {});
  iterator->seek_to_first();
  for (auto _ : state) {
    if (!iterator->valid()) iterator->seek_to_first();
    benchmark::DoNotOptimize(iterator->value());
    iterator->next();
  }
}
BENCHMARK(scan);

}  // namespace
}  // namespace sibyl::storage::rocksdb
