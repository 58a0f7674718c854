// Metrics of the requests that one reactor has served. Only its thread counts; any thread may read.
//
// Counting a request costs a clock read and a few plain stores to memory that only the reactor writes.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <unordered_map>

#include "base/histogram.h"
#include "base/mutex.h"
#include "base/result.h"
#include "engine/statistics/monitor.h"
#include "schema/schema.h"

namespace sibyl::server {

struct InFlightRequest;

class RequestMetrics {
 public:
  using Time = std::chrono::steady_clock::time_point;

  // --- Only on the reactor's thread.

  // Counts a request that has its result and is about to be answered.
  void count(const InFlightRequest& request, Time now);
  // Count a PREPARE, and any error response.
  void count_prepare(Time arrived, Time now);
  void count_error(base::ErrorCode code);
  // Counts a connection that has released its receive memory.
  void count_rest() { rests_.add(); }
  uint64_t rests() const { return rests_.value(); }
  void count_received(uint64_t bytes) { bytes_received_.add(bytes); }
  void count_sent(uint64_t bytes) { bytes_sent_.add(bytes); }
  void count_slow() { slow_.add(); }
  // Discards the metrics of tables that are no longer in `schema`.
  void forget_dropped(const schema::Snapshot& schema);

  // --- Thread-safe.

  void add_to(engine::Activity& activity) const;
  // Returns the number of answered requests.
  uint64_t answered() const;

 private:
  struct Table {
    // Each is made when it is first needed.
    std::array<std::unique_ptr<base::Histogram>, engine::table_measures> measures;
  };
  void count_tables(const InFlightRequest& request, uint64_t micros, uint64_t local_micros,
                    engine::StatementKind kind);
  Table& table_of(uint32_t storage_id);
  // Returns nullptr if there is no such table. Needs no lock, because only this thread writes.
  Table* find_table(uint32_t storage_id) SIBYL_UNCHECKED_LOCKING;
  void record(Table& table, engine::TableMeasure measure, uint64_t value);

  std::array<base::Histogram, engine::statement_kinds> latencies_;
  std::array<base::Counter, 32> errors_;  // by error_slot()
  base::Counter prepared_, regular_, bytes_received_, bytes_sent_, slow_, rests_;
  std::array<base::Histogram, 3> batch_partitions_;
  // Written only by the reactor's thread, with tables_mutex_ held. The measures of a table are written
  // likewise.
  mutable base::Mutex tables_mutex_;
  std::unordered_map<uint32_t, Table> tables_ SIBYL_GUARDED_BY(tables_mutex_);
  // The last table that was looked up, because successive requests often use the same one.
  uint32_t recent_id_ = 0;
  Table* recent_ = nullptr;
};

// The kind of a decoded request's statement; `other` if the request could not be decoded.
engine::StatementKind kind_of(const InFlightRequest& request);

}  // namespace sibyl::server
