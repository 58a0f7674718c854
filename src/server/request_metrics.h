// What one reactor has served: its thread counts, any thread reads.
//
// Counting a request costs a clock read and a few plain stores to memory that the reactor alone writes.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "base/histogram.h"
#include "base/result.h"
#include "engine/monitor.h"
#include "schema/schema.h"

namespace sibyl::server {

struct Call;

class RequestMetrics {
 public:
  using Time = std::chrono::steady_clock::time_point;

  // --- The reactor's thread.

  // A call has its result and is about to be answered.
  void count(const Call& call, Time now);
  // An answer that belongs to no call: of PREPARE, or an error of the protocol.
  void count_prepare(Time arrived, Time now);
  void count_error(base::ErrorCode code);
  // A connection gave back the memory that it receives into.
  void count_rest() { rests_.add(); }
  uint64_t rests() const { return rests_.value(); }
  void count_received(uint64_t bytes) { bytes_received_.add(bytes); }
  void count_sent(uint64_t bytes) { bytes_sent_.add(bytes); }
  void count_slow() { slow_.add(); }
  // Tables that are not in `schema` any more.
  void forget_dropped(const schema::Snapshot& schema);

  // --- Any thread.

  void add_to(engine::Activity& activity) const;
  // Requests that were answered.
  uint64_t answered() const;

 private:
  struct Table {
    std::array<std::unique_ptr<base::Histogram>, engine::table_measures> measures;  // made when first needed
  };
  void count_tables(const Call& call, uint64_t micros, uint64_t local_micros, engine::StatementKind kind);
  Table& table_of(uint32_t storage_id);
  void record(Table& table, engine::TableMeasure measure, uint64_t value);

  std::array<base::Histogram, engine::statement_kinds> latencies_;
  std::array<base::Counter, 32> errors_;  // by error_slot()
  base::Counter prepared_, regular_, bytes_received_, bytes_sent_, slow_, rests_;
  std::array<base::Histogram, 3> batch_partitions_;
  // The reactor's thread alone changes it, holding the mutex; so it may read without.
  mutable std::mutex tables_mutex_;
  std::unordered_map<uint32_t, Table> tables_;
  // The last that was asked for: most requests in a row are about one.
  uint32_t recent_id_ = 0;
  Table* recent_ = nullptr;
};

// Of a call that has been understood, or `other`.
engine::StatementKind kind_of(const Call& call);

}  // namespace sibyl::server
