// What execution works in, and what a request brings.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/result.h"
#include "execute/result_set.h"
#include "plan/guardrails.h"
#include "storage/store.h"
#include "types/value.h"

namespace sibyl::execute {

// The native protocol's numbers.
enum class Consistency : uint16_t {
  any = 0,
  one = 1,
  two = 2,
  three = 3,
  quorum = 4,
  all = 5,
  local_quorum = 6,
  each_quorum = 7,
  serial = 8,
  local_serial = 9,
  local_one = 10,
};

inline bool is_serial(Consistency consistency) {
  return consistency == Consistency::serial || consistency == Consistency::local_serial;
}

class Trace;  // trace.h

// Whether a statement that runs for long is still wanted. Asked now and then by the thread that runs it.
class Interrupt {
 public:
  virtual ~Interrupt() = default;
  // An error: the statement ends with it.
  virtual base::Status check() const = 0;
};

struct Request {
  std::span<const types::ValueView> values;  // borrowed: must live until the request completes
  int32_t page_size = 0;                     // 0 or less: everything at once
  std::optional<Bytes> paging_state;
  std::optional<int64_t> timestamp_micros;  // the client's default timestamp
  std::optional<int32_t> now_seconds;       // v5
  Consistency consistency = Consistency::one;
  Consistency serial_consistency = Consistency::serial;
  Trace* trace = nullptr;                // told what is done for the request, if anybody asked; borrowed
  bool unmasked = true;                  // shows what masked columns hold
  const Interrupt* interrupt = nullptr;  // nullptr: it runs to its end; borrowed
};

// Called exactly once, on any thread, perhaps before the call that was given it returns.
using Completion = std::move_only_function<void(base::Result<ResultSet>)>;

// Write timestamps: microseconds that never repeat or go back within the process.
class TimestampSource {
 public:
  explicit TimestampSource(base::Clock& clock) : clock_(clock) {}
  int64_t next();

 private:
  base::Clock& clock_;
  std::atomic<int64_t> last_{0};
};

// A statement that is counted when it ends well.
struct Counted {
  using Time = std::chrono::steady_clock::time_point;
  std::shared_ptr<void> usage;  // its plan's; nullptr: it is not counted
  Time started;

  static Counted from_now(std::shared_ptr<void> usage) {
    const Time started = usage != nullptr ? std::chrono::steady_clock::now() : Time();
    return {std::move(usage), started};
  }
};

// Told which partitions statements name and how they end, by any thread, so it must be quick. Outlives the
// store.
class Observer {
 public:
  virtual ~Observer() = default;
  // A SELECT has read; `keys` are serialised, none when it reads a range of partitions or through an index.
  virtual void read(const schema::Table& table, std::span<const Bytes> keys, uint64_t tombstones) = 0;
  // A statement that writes, alone or in a batch, is about to be committed; or its conditions do not hold.
  // `prefixes` are those of record keys. (Told when it has been committed, it would have to keep them.)
  virtual void written(const schema::Table& table, std::span<const Bytes> prefixes) = 0;
  // A statement has ended well, a write by being durable. REQUIRES: counted.usage is there.
  virtual void ended(const Counted& counted, const ResultSet& result) = 0;
};

class VectorIndexes;   // vector_indexes.h: near neighbours
class PartitionLocks;  // locks.h: striped locks for statements that read before they write

// Shared by all requests; everything in it is thread-safe.
struct Environment {
  storage::Store& store;         // users' tables
  storage::Store& system_store;  // virtual tables: the server fills them
  base::Clock& clock;
  TimestampSource& timestamps;
  PartitionLocks& locks;
  VectorIndexes* vectors = nullptr;                                // nullptr: vectors are compared one by one
  const plan::Guardrails* guardrails = &plan::default_guardrails;  // outlives the environment
  Observer* observer = nullptr;                                    // nullptr: nobody

  storage::Store& store_of(const schema::Table& table) const {
    return table.is_virtual ? system_store : store;
  }
};

}  // namespace sibyl::execute
