// What statements do, counted all the time: per table how often it is read and written, which partitions most
// and how many tombstones reads meet; per shape of a statement (cql/shape.h) its calls and what they cost.
//
// Counting. Threads count in stripes, each with a lock of its own that hardly two of them share, and whoever
// reads adds the stripes up. Nothing is sampled: calls, partitions, rows and tombstones are exact, quantiles
// are within 3.2% (base/quantile_sketch.h), partitions' counts lie within the bounds beside them
// (base/space_saving.h). Counted are statements that succeeded, on tables of users; each page of a result is
// a call, each statement of a batch a write. A write to a partition is counted when it is handed to the
// store: also those few whose commit fails then. Latency is that of executing, for writes until they are
// durable.
//
// Memory. At most 1,000 shapes are kept: when there are more, the eighth of them that was used least goes.
// The partitions of a table that are read, and those that are written, take 4 KiB in each stripe that many of
// them are counted in, beside keys of more than 15 bytes: with keys of 32 bytes 7 KiB, with the longest that
// are kept 21 KiB.
//
// Threads: any, but for load().
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/clock.h"
#include "base/quantile_sketch.h"
#include "base/space_saving.h"
#include "cql/ast.h"
#include "execute/environment.h"
#include "execute/execute.h"
#include "plan/prepared.h"
#include "schema/schema.h"

namespace sibyl::engine {

struct ShapeCounts {
  uint64_t calls = 0, partitions_read = 0, rows_read = 0, rows_returned = 0, tombstones_read = 0;
  uint64_t partitions_max = 0;  // of one call: read, or by a write, written
  int64_t first_seen_micros = 0, last_seen_micros = 0;
  base::QuantileSketch latency_micros;

  void merge(const ShapeCounts& other);
};

struct TableCounts {
  uint64_t reads = 0, writes = 0;
  int64_t since_micros = 0;
  base::QuantileSketch tombstones_per_read;
  // Names: of reads the serialised key; of writes the key as it stands in record keys.
  base::SpaceSaving partitions_read, partitions_written;

  void merge(const TableCounts& other);
};

// What is known of a shape, apart from its counts.
struct ShapeName {
  uint64_t id = 0;  // a hash of `query`
  std::string query, kind;
  std::string keyspace, table;   // several tables are joined by ", "
  std::vector<uint32_t> tables;  // storage ids
};

class QueryShape;

class Usage final : public execute::Observer {
 public:
  static constexpr size_t max_shapes = 1000;
  static constexpr size_t max_query_text = 4096;  // longer ones are shown cut
  static constexpr size_t stripe_count = 8;
  using Time = std::chrono::steady_clock::time_point;

  // Borrows the clock, which must outlive it.
  explicit Usage(base::Clock& clock);
  ~Usage() override;

  // --- For Statements: what a plan keeps in `usage`; nullptr for what is not counted.
  std::shared_ptr<void> shape_of(const cql::Statement& statement, const plan::Prepared& plan);
  // The same for a BATCH of the protocol.
  std::shared_ptr<void> shape_of(cql::Batch::Kind kind, const std::vector<execute::BatchItem>& items);

  // --- Counting
  void read(const schema::Table& table, std::span<const base::Bytes> keys, uint64_t tombstones) override;
  void written(const schema::Table& table, std::span<const base::Bytes> prefixes) override;
  void ended(const execute::Counted& counted, const execute::ResultSet& result) override;

  // --- Reading
  struct Shape {
    ShapeName name;
    ShapeCounts counts;
  };
  std::vector<Shape> shapes() const;  // those that were called
  std::map<uint32_t, TableCounts> tables() const;
  int64_t since_micros() const { return since_micros_; }
  int64_t now_micros() const { return clock_.now_micros(); }

  // Forgets what is about tables that are not in the schema any more.
  void forget_dropped(const schema::Snapshot& schema);

  // When nothing was counted, for the server was down; in order.
  struct Pause {
    int64_t begin_micros = 0, end_micros = 0;
  };
  static constexpr size_t max_pauses = 1000;
  const std::vector<Pause>& pauses() const { return pauses_; }
  // How long has been counted since then, without pauses.
  uint64_t counted_micros(int64_t since_micros) const;

  // What an earlier run knew. Before anything is counted.
  void load(int64_t since_micros, std::vector<Pause> pauses, std::vector<Shape> shapes,
            std::map<uint32_t, TableCounts> tables);
  // The wall clock may have been set: times are taken from it anew.
  void look_at_clock();

 private:
  struct alignas(64) Stripe {
    mutable std::mutex mutex;
    std::unordered_map<uint32_t, TableCounts> tables;
    // The last that was asked for: most statements in a row are about one.
    uint32_t recent_id = 0;
    TableCounts* recent = nullptr;
  };
  static size_t stripe_of_thread();
  TableCounts& table_of(Stripe& stripe, uint32_t id);
  int64_t micros_of(Time time) const;
  std::shared_ptr<QueryShape> find_or_add(ShapeName name);
  void list(std::shared_ptr<QueryShape> shape);  // REQUIRES: shapes_mutex_ is held
  void make_room();                              // REQUIRES: the same
  void unlist(QueryShape& shape);
  std::shared_ptr<QueryShape> listed_again(QueryShape& shape);

  base::Clock& clock_;
  int64_t since_micros_ = 0;
  std::vector<Pause> pauses_;
  std::atomic<int64_t> clock_offset_{0};  // from the steady clock to the wall's, in microseconds
  mutable std::array<Stripe, stripe_count> stripes_;
  mutable std::mutex shapes_mutex_;  // taken before any stripe's
  std::unordered_map<uint64_t, std::shared_ptr<QueryShape>> shapes_;
  // Batches of the protocol, by their statements' shapes.
  std::unordered_map<uint64_t, std::shared_ptr<QueryShape>> batches_;
};

}  // namespace sibyl::engine
