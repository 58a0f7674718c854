// Reads partitions and their rows, merged, as visible at one moment.
//
// A Reader returns partitions one after another and, within each, rows in clustering order or in reverse.
// Deletions of partitions, ranges, rows and columns are already applied, and expired cells are removed.
// Everything from one Reader is as of one moment of the store. Views are invalidated by the next call of
// next_row() or next_partition().
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include "base/result.h"
#include "plan/evaluation/intervals.h"
#include "plan/evaluation/partitions.h"
#include "plan/restrictions/restrictions.h"
#include "plan/statements/select.h"
#include "row/fragment.h"
#include "schema/schema.h"
#include "storage/store.h"

namespace sibyl::execute {

using base::Bytes;
using base::BytesView;

class Interrupt;  // environment.h

// The position where an earlier page ended.
struct Position {
  Bytes partition_key;
  // The last row that was returned; nullopt: the whole partition is done.
  std::optional<Bytes> clustering;
};

struct ReadPlan {
  const schema::Table* table = nullptr;
  int64_t now_seconds = 0;
  bool reversed = false;

  // Which partitions are read: the keys in `keys`, in this order, or a range of tokens.
  bool is_range = false;
  std::vector<Bytes> keys;  // serialised
  plan::TokenRange tokens;

  // Which rows of each partition are read: single rows, by their clustering bytes, or intervals.
  bool names_rows = false;
  std::vector<Bytes> rows;
  std::vector<plan::Interval> intervals;

  std::optional<Position> after;  // the read continues after this position

  // A read that encounters more deleted rows and cells than this fails (READ_TOO_MANY_TOMBSTONES).
  int64_t max_tombstones = std::numeric_limits<int64_t>::max();

  // If set, the rows need only the cells of the columns from which this statement takes values. Borrowed.
  const plan::Select* select = nullptr;

  const Interrupt* interrupt = nullptr;  // polled while invisible rows are skipped; borrowed
};

class Reader {
 public:
  virtual ~Reader() = default;

  // Moves to the next partition that has any record. Skips the rest of the current one. Returns false at the
  // end.
  virtual base::Result<bool> next_partition() = 0;
  virtual const Bytes& partition_key() const = 0;       // serialised
  virtual const row::Fragment& static_row() const = 0;  // visible static cells
  // Moves to the next visible row of the current partition. Returns false at the end.
  virtual base::Result<bool> next_row() = 0;
  virtual BytesView clustering() const = 0;
  virtual const row::Fragment& row() const = 0;
  // True if `after` named a row of this partition, so that an earlier page has returned some of its rows.
  virtual bool is_continued() const = 0;
  // Deleted and expired rows and cells encountered so far.
  virtual int64_t tombstones() const { return 0; }
};

// REQUIRES: the plan and the store outlive the reader.
base::Result<std::unique_ptr<Reader>> open_reader(const storage::Store& store, const ReadPlan& plan);
// Like open_reader() above, but reads from the snapshot.
base::Result<std::unique_ptr<Reader>> open_reader(std::shared_ptr<const storage::Snapshot> snapshot,
                                                  const ReadPlan& plan);

// Combines overlapping range deletions of one partition: for each clustering, the latest deletion that covers
// it.
class RangeDeletions {
 public:
  void clear() { segments_.clear(); }
  void add(Bytes begin, std::optional<Bytes> end, const row::Deletion& deletion);
  // Must be called after the last add().
  void finish();
  // Returns the latest deletion that covers the clustering. exists() is false if there is none.
  row::Deletion covering(BytesView clustering) const;
  bool empty() const { return segments_.empty(); }

 private:
  struct Range {
    Bytes begin;
    std::optional<Bytes> end;
    row::Deletion deletion;
  };
  struct Segment {
    Bytes begin;  // its end is the begin of the next segment
    row::Deletion deletion;
  };
  std::vector<Range> ranges_;
  std::vector<Segment> segments_;
};

}  // namespace sibyl::execute
