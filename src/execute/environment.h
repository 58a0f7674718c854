// The environment in which statements are executed, and the parameters of a request.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/consistency.h"
#include "base/result.h"
#include "execute/result_set.h"
#include "plan/guardrails.h"
#include "storage/store.h"
#include "types/value.h"

namespace sibyl::plan {
class QueryShape;  // prepared.h
}

namespace sibyl::execute {

using base::Consistency;
using base::is_serial;

class Trace;  // trace.h

// Tells a long-running statement whether to stop. Polled by the thread that runs the statement.
class Interrupt {
 public:
  virtual ~Interrupt() = default;
  // Returns an error if the statement must end. It ends with that error.
  virtual base::Status check() const = 0;
};

// Receives the progress of a write. Called on any thread; must not block.
class WriteProgress {
 public:
  virtual ~WriteProgress() = default;
  // Called at most once, before the request completes: the write is durable, and only view rows in other
  // shards must still be renewed. The shards of the write need not be held any more.
  virtual void committed() = 0;
};

struct Request {
  std::span<const types::ValueView> values;  // borrowed; must stay valid until the request completes
  int32_t page_size = 0;                     // 0 or less: no paging
  std::optional<Bytes> paging_state;
  std::optional<int64_t> timestamp_micros;  // the client's default timestamp
  std::optional<int32_t> now_seconds;       // v5
  Consistency consistency = Consistency::one;
  Consistency serial_consistency = Consistency::serial;
  Trace* trace = nullptr;                // receives the steps of the request if tracing is on; borrowed
  bool unmasked = true;                  // shows the real values of masked columns
  const Interrupt* interrupt = nullptr;  // nullptr: cannot be interrupted; borrowed
  WriteProgress* progress = nullptr;     // borrowed until the request completes
};

// Called exactly once, on any thread, perhaps before the function that takes the completion returns.
using Completion = std::move_only_function<void(base::Result<ResultSet>)>;

// Write timestamps in microseconds. They never repeat or decrease within the process.
class TimestampSource final : public storage::Timestamps {
 public:
  explicit TimestampSource(base::Clock& clock) : clock_(clock) {}
  int64_t next();
  int64_t last() const override { return last_.load(std::memory_order_relaxed); }
  void start_above(int64_t timestamp) override;
  // Timestamps follow the clock only up to `timestamp`. After that, each is larger than the last by one.
  // Thread-safe.
  void set_limit(int64_t timestamp) { limit_.store(timestamp, std::memory_order_relaxed); }

 private:
  base::Clock& clock_;
  std::atomic<int64_t> last_{0};
  std::atomic<int64_t> limit_{std::numeric_limits<int64_t>::max()};
};

// A statement that is counted if it succeeds.
struct Counted {
  using Time = std::chrono::steady_clock::time_point;
  std::shared_ptr<plan::QueryShape> shape;  // the shape of the statement's plan; nullptr: it is not counted
  Time started;

  static Counted from_now(std::shared_ptr<plan::QueryShape> shape) {
    const Time started = shape != nullptr ? std::chrono::steady_clock::now() : Time();
    return {std::move(shape), started};
  }
};

// Receives the partitions that statements name and the results of statements. Called on any thread, so it
// must be fast and thread-safe. Must outlive the store.
class Observer {
 public:
  virtual ~Observer() = default;
  // Called after a SELECT has read. `keys` are the serialised partition keys; empty for a range of partitions
  // or a read through an index.
  virtual void read(const schema::Table& table, std::span<const Bytes> keys, uint64_t tombstones) = 0;
  // Called before a write is committed, for each statement of a batch, and also if its conditions do not
  // hold. `prefixes` are prefixes of record keys. The call comes before the commit so that the prefixes need
  // not be kept.
  virtual void written(const schema::Table& table, std::span<const Bytes> prefixes) = 0;
  // Called when a statement succeeded; for a write, when it is durable. REQUIRES: counted.shape is not null.
  virtual void ended(const Counted& counted, const ResultSet& result) = 0;
};

class SpreadWrites;    // spread_writes.h: batches and views over several servers
class VectorIndexes;   // vector_indexes.h: nearest-neighbour search
class PartitionLocks;  // locks.h: striped locks for statements that read before they write

// Shared by all requests. Every member is thread-safe.
struct Environment {
  storage::Store& store;         // user tables
  storage::Store& system_store;  // virtual tables, filled by the server
  base::Clock& clock;
  TimestampSource& timestamps;
  PartitionLocks& locks;
  VectorIndexes* vectors = nullptr;                                // nullptr: vectors are compared one by one
  const plan::Guardrails* guardrails = &plan::default_guardrails;  // must outlive the environment
  Observer* observer = nullptr;                                    // nullptr: no observer
  SpreadWrites* spread = nullptr;                                  // nullptr: all partitions are here

  storage::Store& store_of(const schema::Table& table) const {
    return table.is_virtual ? system_store : store;
  }
};

}  // namespace sibyl::execute
