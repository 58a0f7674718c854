// What the partitions of a table look like, from what its pieces (data files, memory) say of themselves.
//
// Each piece lists, of the partitions that it holds records of, those whose tokens have the smallest hashes,
// with their rows and bytes there. The hash decides for all pieces alike, so that a partition that lies in
// several of them is listed by all or by none and its parts add up: what is left below the lowest of the
// pieces' bounds is a uniform sample of whole partitions. Merging gives the same in any order and grouping.
//
// What it estimates. Rows, bytes and the number of runs are exact sums over the pieces. A row that was
// written again counts once in each piece that has it, and deleted rows count until compaction has purged
// them: all figures converge to what readers see as pieces are compacted into one. Distinct partitions are
// runs times the share of distinct ones in the sample: exact for a single piece or while every partition is
// listed, else with a standard error below 1/sqrt(512) = 4.4%. Quantiles are those of the sample: at p the
// share of partitions below the given value is p with a standard error below sqrt(p(1-p)/512) (2.2% at the
// median, 0.5% at p99); exact while every partition is listed. The largest partitions of each piece are
// listed besides, so that the maximum is that of the true partition where it is among the 16 largest of each
// piece that holds it, else too small.
//
// Not synchronised.
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
  uint64_t bytes = 0;  // of records, before compression
};

class PartitionSample {
 public:
  static constexpr size_t listed_by_piece = 512;
  static constexpr size_t largest_by_piece = 16;
  static constexpr size_t listed_in_all = 16'384;

  // `most`: how many partitions are listed.
  explicit PartitionSample(size_t most = listed_by_piece) : most_(most) {}

  // All that this piece has of a partition; once for each. REQUIRES: nothing was merged into it.
  void add(int64_t token, const PartitionSize& size);
  void merge(const PartitionSample& other);
  // Only this share (above 0, to 1) of the piece's records, and of its partitions, was looked at.
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
  // False when the bytes are none.
  bool read_from(base::Reader& in);

 private:
  struct Run {
    uint64_t hash = 0;  // of the token, one to one
    uint64_t runs = 1;
    PartitionSize size;
  };
  // Adds up runs of one partition, and keeps the `most` lowest hashes.
  static void tidy(std::vector<Run>& runs, size_t most, uint64_t& bound);
  static void keep_largest(std::vector<Run>& runs, size_t most);
  uint64_t estimate_partitions(const std::vector<Run>& sample, uint64_t bound) const;

  size_t most_;
  uint64_t runs_ = 0;  // partitions of each piece, added up
  PartitionSize all_;
  PartitionSize largest_run_;                              // rows and bytes apart
  bool is_whole_ = true;                                   // nothing was left out but by `bound_`
  uint64_t bound_ = std::numeric_limits<uint64_t>::max();  // every partition with a lower hash is listed
  std::vector<Run> listed_;                                // up to twice `most_`
  std::vector<Run> largest_;
};

// Takes records in order, as a file or an iterator has them, and makes a sample of each table of users.
class PartitionCounter {
 public:
  // Several in a row with the same key (fragments that are not merged yet) are one row.
  void add(BytesView key, size_t value_size);
  // Before samples are taken.
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

class Iterator;
// Of the table that the iterator walks: its first partitions, until as many records have been seen; the rest
// is estimated by the tokens that are left. A few partitions do not tell where the next tokens are: then it
// is estimated by `share_before`, the share of records that are before a key; without it, all are looked at.
PartitionSample scan_partitions(Iterator& records, uint32_t table, size_t most_records,
                                const std::function<double(BytesView key)>& share_before = {});

}  // namespace sibyl::storage
