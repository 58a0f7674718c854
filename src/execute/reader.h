// Reading: partitions and their rows, merged, as they are visible at one moment.
//
// A Reader gives partitions one after another and, within each, rows in clustering order or against it.
// Deletions of partitions, ranges, rows and columns are already applied and expired cells are gone.
// Everything one Reader gives is of one moment of the store. Views are valid until the next call of
// next_row() or next_partition().
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include "base/result.h"
#include "plan/restrictions.h"
#include "row/fragment.h"
#include "schema/schema.h"
#include "storage/store.h"

namespace sibyl::execute {

using base::Bytes;
using base::BytesView;

class Interrupt;  // environment.h

// Where an earlier page stopped.
struct Position {
  Bytes partition_key;
  // The last row given; nullopt: the whole partition is done.
  std::optional<Bytes> clustering;
};

struct ReadPlan {
  const schema::Table* table = nullptr;
  int64_t now_seconds = 0;
  bool reversed = false;

  // Which partitions: those named, in this order, or a range of tokens.
  bool is_range = false;
  std::vector<Bytes> keys;  // serialised
  plan::TokenRange tokens;

  // Which rows of each: single ones (their clustering bytes), or intervals.
  bool names_rows = false;
  std::vector<Bytes> rows;
  std::vector<plan::Interval> intervals;

  std::optional<Position> after;  // continue there

  // A read that meets more deleted rows and cells than this fails (READ_TOO_MANY_TOMBSTONES).
  int64_t max_tombstones = std::numeric_limits<int64_t>::max();

  const Interrupt* interrupt = nullptr;  // asked while rows are skipped that nobody sees; borrowed
};

class Reader {
 public:
  virtual ~Reader() = default;

  // Moves to the next partition that has any record; what is left of the current one is skipped.
  virtual base::Result<bool> next_partition() = 0;
  virtual const Bytes& partition_key() const = 0;       // serialised
  virtual const row::Fragment& static_row() const = 0;  // its visible cells
  // Moves to the next visible row of the current partition.
  virtual base::Result<bool> next_row() = 0;
  virtual BytesView clustering() const = 0;
  virtual const row::Fragment& row() const = 0;
  // Whether `after` named a row of this partition: rows of it were given before.
  virtual bool is_continued() const = 0;
  // Deleted rows and cells, expired ones too, that were met so far.
  virtual int64_t tombstones() const { return 0; }
};

// REQUIRES: the plan and the store outlive the reader.
base::Result<std::unique_ptr<Reader>> open_reader(const storage::Store& store, const ReadPlan& plan);
// The same, of the snapshot's moment.
base::Result<std::unique_ptr<Reader>> open_reader(std::shared_ptr<const storage::Snapshot> snapshot,
                                                  const ReadPlan& plan);

// Overlapping range deletions of one partition, as the latest that covers each clustering.
class RangeDeletions {
 public:
  void clear() { segments_.clear(); }
  void add(Bytes begin, std::optional<Bytes> end, const row::Deletion& deletion);
  // Call after the last add().
  void finish();
  // The latest deletion that covers the clustering; one that does not exist() when none does.
  row::Deletion covering(BytesView clustering) const;
  bool empty() const { return segments_.empty(); }

 private:
  struct Range {
    Bytes begin;
    std::optional<Bytes> end;
    row::Deletion deletion;
  };
  struct Segment {
    Bytes begin;  // to the next segment's
    row::Deletion deletion;
  };
  std::vector<Range> ranges_;
  std::vector<Segment> segments_;
};

}  // namespace sibyl::execute
