// Counts the work of statements. Per table: reads, writes, the most used partitions, and the tombstones that
// reads scan. Per shape of a statement (cql/shape.h): calls and their cost.
//
// Counting. Threads count in stripes. Each stripe has its own lock, which threads seldom share; readers add
// up the stripes. Nothing is sampled: calls, partitions, rows and tombstones are exact, quantiles are within
// 3.2% (base/quantile_sketch.h), and counts of partitions come with bounds (base/space_saving.h). Only
// successful statements on users' tables are counted. Each page of a result is a call, and each statement of
// a batch is a write. A write to a partition is counted when it is passed to the store, so the few writes
// whose commit fails are included. Latency is the time of execution; for writes it ends when they are
// durable.
//
// Memory. At most 1,000 shapes are kept; above that, the least used eighth is dropped. The partitions read
// and the partitions written of a table each take 4 KiB per stripe in which many are counted, plus keys of
// more than 15 bytes: 7 KiB with keys of 32 bytes, 21 KiB with the longest keys that are kept.
//
// Threads: thread-safe, except load().
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/quantile_sketch.h"
#include "base/space_saving.h"
#include "cql/ast.h"
#include "execute/environment.h"
#include "execute/write/batch.h"
#include "plan/prepared.h"
#include "schema/schema.h"

namespace sibyl::engine {

struct ShapeCounts {
  uint64_t calls = 0, partitions_read = 0, rows_read = 0, rows_returned = 0, tombstones_read = 0;
  // The most partitions that one call has read or, if it is a write, has written.
  uint64_t partitions_max = 0;
  int64_t first_seen_micros = 0, last_seen_micros = 0;
  base::QuantileSketch latency_micros;

  void merge(const ShapeCounts& other);
};

struct TableCounts {
  uint64_t reads = 0, writes = 0;
  int64_t since_micros = 0;
  base::QuantileSketch tombstones_per_read;
  // Names are serialised keys for reads, and keys as they appear in record keys for writes.
  base::SpaceSaving partitions_read, partitions_written;

  void merge(const TableCounts& other);
};

// Properties of a shape other than its counts.
struct ShapeName {
  uint64_t id = 0;  // a hash of `query`
  std::string query, kind;
  std::string keyspace, table;   // the names of several tables are joined by ", "
  std::vector<uint32_t> tables;  // storage ids
};

class Usage final : public execute::Observer {
 public:
  static constexpr size_t max_shapes = 1000;
  static constexpr size_t max_query_text = 4096;  // longer texts are truncated
  static constexpr size_t stripe_count = 8;
  using Time = std::chrono::steady_clock::time_point;

  // `clock` must outlive the object.
  explicit Usage(base::Clock& clock);
  ~Usage() override;

  // --- For Statements. Returns the shape that a plan keeps; nullptr if the statement is not
  // counted.
  std::shared_ptr<plan::QueryShape> shape_of(const cql::Statement& statement, const plan::Prepared& plan);
  // Like shape_of() above, for a BATCH message of the protocol.
  std::shared_ptr<plan::QueryShape> shape_of(cql::Batch::Kind kind,
                                             const std::vector<execute::BatchItem>& items);

  // --- Counting
  void read(const schema::Table& table, std::span<const base::Bytes> keys, uint64_t tombstones) override;
  void written(const schema::Table& table, std::span<const base::Bytes> prefixes) override;
  void ended(const execute::Counted& counted, const execute::ResultSet& result) override;

  // --- Reading
  struct Shape {
    ShapeName name;
    ShapeCounts counts;
  };
  std::vector<Shape> shapes() const;  // Returns only shapes that were called.
  std::map<uint32_t, TableCounts> tables() const;
  int64_t since_micros() const { return since_micros_; }
  int64_t now_micros() const { return clock_.now_micros(); }

  // Drops the counts of tables that are no longer in the schema.
  void forget_dropped(const schema::Snapshot& schema);

  // Periods when nothing was counted because the server was down, in order.
  struct Pause {
    int64_t begin_micros = 0, end_micros = 0;
  };
  static constexpr size_t max_pauses = 1000;
  const std::vector<Pause>& pauses() const { return pauses_; }
  // Time since `since_micros` during which statements were counted, excluding pauses.
  uint64_t counted_micros(int64_t since_micros) const;

  // Restores the counts of an earlier run. Must be called before anything is counted.
  void load(int64_t since_micros, std::vector<Pause> pauses, std::vector<Shape> shapes,
            std::map<uint32_t, TableCounts> tables);
  // Reads the wall clock again, in case it was set.
  void update_now();

 private:
  struct alignas(64) Stripe {
    mutable base::Mutex mutex;
    std::unordered_map<uint32_t, TableCounts> tables;
    // The table that was counted last. Successive statements are often about the same table.
    uint32_t recent_id = 0;
    TableCounts* recent = nullptr;
  };
  static size_t stripe_of_thread();
  TableCounts& table_of(Stripe& stripe, uint32_t id);
  int64_t micros_of(Time time) const;
  std::shared_ptr<plan::QueryShape> find_or_add(ShapeName name);
  void list(std::shared_ptr<plan::QueryShape> shape) SIBYL_REQUIRES(shapes_mutex_);
  void make_room() SIBYL_REQUIRES(shapes_mutex_);
  void unlist(plan::QueryShape& shape);
  std::shared_ptr<plan::QueryShape> list_again(plan::QueryShape& shape);

  base::Clock& clock_;
  int64_t since_micros_ = 0;
  std::vector<Pause> pauses_;
  std::atomic<int64_t> clock_offset_{0};  // wall clock minus steady clock, in microseconds
  mutable std::array<Stripe, stripe_count> stripes_;
  mutable base::Mutex shapes_mutex_;  // acquired before any stripe's mutex
  std::unordered_map<uint64_t, std::shared_ptr<plan::QueryShape>> shapes_;
  // shapes of BATCH messages of the protocol, by the shapes of their statements
  std::unordered_map<uint64_t, std::shared_ptr<plan::QueryShape>> batches_;
};

}  // namespace sibyl::engine
