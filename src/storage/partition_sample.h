// Estimates the partitions of a table from samples of its pieces (data files and memory tables).
//
// Each piece hashes the tokens of its partitions, and lists the partitions with the smallest hashes, with
// their rows and bytes in this piece. All pieces use the same hash. A partition that is spread over several
// pieces is therefore listed by all of them or by none, and its parts can be added up. Below the lowest bound
// of all pieces, the listed partitions are a uniform sample of whole partitions. Merging gives the same
// result in any order and grouping.
//
// Accuracy:
//
//  - Rows, bytes and runs are exact sums over the pieces. A row that was written several times counts once in
//    each piece that has it, and deleted rows count until compaction purges them. All figures converge to
//    what readers see as pieces are compacted into one.
//  - Distinct partitions are estimated as the number of runs times the fraction of distinct ones in the
//    sample. This is exact for a single piece or while every partition is listed. Otherwise the standard
//    error is below 1/sqrt(512) = 4.4%.
//  - Quantiles are those of the sample. The fraction of partitions below the quantile for p is p with a
//    standard error below sqrt(p(1-p)/512): 2.2% at the median, 0.5% at p99. Exact while every partition is
//    listed.
//  - The maximum is exact if the largest partition is among the 16 largest of each piece that holds it,
//    because every piece also lists its largest partitions. Otherwise it is too small.
//
// Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <vector>

#include "base/bytes.h"

namespace sibyl::storage {

using base::Bytes;
using base::BytesView;

struct PartitionSize {
  uint64_t rows = 0;
  uint64_t bytes = 0;  // size of the records before compression
};

class PartitionSample {
 public:
  static constexpr size_t listed_by_piece = 512;
  static constexpr size_t largest_by_piece = 16;
  static constexpr size_t listed_in_all = 16'384;

  // `max_listed` is the number of partitions to list.
  explicit PartitionSample(size_t max_listed = listed_by_piece) : max_listed_(max_listed) {}

  // Adds everything that this piece has of one partition. Call it once for each partition. REQUIRES: nothing
  // was merged.
  void add(int64_t token, const PartitionSize& size);
  void merge(const PartitionSample& other);
  // Declares that only this fraction (0 < share <= 1) of the piece's records and of its partitions was read.
  void set_share(double share, double share_of_partitions);
  void set_share(double share) { set_share(share, share); }

  struct Summary {
    uint64_t partitions = 0, rows = 0, bytes = 0;
    struct Quantiles {
      uint64_t p50 = 0, p90 = 0, p99 = 0, max = 0;
    };
    Quantiles partition_rows, partition_bytes;
  };
  Summary summary() const;

  uint64_t runs() const { return runs_; }
  void append_to(Bytes& out) const;
  // Returns false if the bytes are not a sample.
  bool read_from(base::Reader& in);
  // For samples that were merged: read_merged_from() restores an equal sample.
  void append_merged_to(Bytes& out) const;
  bool read_merged_from(base::Reader& in);

 private:
  struct Run {
    uint64_t hash = 0;  // hash of the token; distinct tokens have distinct hashes
    uint64_t runs = 1;
    PartitionSize size;
  };
  // Adds up the runs of each partition and keeps the `max_runs` lowest hashes.
  static void combine_runs(std::vector<Run>& runs, size_t max_runs, uint64_t& bound);
  static void keep_largest(std::vector<Run>& runs, size_t max_runs);
  uint64_t estimate_partitions(const std::vector<Run>& sample, uint64_t bound) const;

  size_t max_listed_;
  uint64_t runs_ = 0;  // number of partitions in each piece, summed over the pieces
  PartitionSize all_;
  PartitionSize largest_run_;  // the maximum of rows and the maximum of bytes, perhaps from different runs
  bool is_whole_ = true;       // true: set_share() has not reduced the counts
  uint64_t bound_ = std::numeric_limits<uint64_t>::max();  // all partitions with lower hashes are listed
  std::vector<Run> listed_;                                // up to twice `max_listed_`
  std::vector<Run> largest_;
};

// Builds a sample of each user table from records in key order, as a file or an iterator has them.
class PartitionCounter {
 public:
  // Consecutive records with the same key (fragments that are not merged yet) count as one row.
  void add(BytesView key, size_t value_size);
  // Must be called before samples().
  void finish();
  std::map<uint32_t, PartitionSample>& samples() { return samples_; }

 private:
  Bytes last_key_;
  size_t prefix_size_ = 0;
  uint32_t table_id_ = 0;
  int64_t token_ = 0;
  PartitionSize size_;
  std::map<uint32_t, PartitionSample> samples_;
};

// The tokens that the partitions of a store may have, both inclusive.
struct TokenSpan {
  int64_t first = std::numeric_limits<int64_t>::min(), last = std::numeric_limits<int64_t>::max();
  // The fraction of the tokens that are below this one. REQUIRES: it is in the span.
  double share_below(int64_t token) const {
    return (static_cast<double>(token) - static_cast<double>(first)) /
           (static_cast<double>(last) - static_cast<double>(first) + 1);
  }
};

class Iterator;
// Samples the first partitions of the iterator's table, up to `max_records` records. The rest is extrapolated
// from the remaining token range. If there are too few partitions for that, uses `share_before`, which
// returns the fraction of records before a key. Without `share_before`, all records are read.
PartitionSample scan_partitions(Iterator& records, uint32_t table, size_t max_records,
                                const std::function<double(BytesView key)>& share_before = {},
                                const TokenSpan& tokens = {});

}  // namespace sibyl::storage
