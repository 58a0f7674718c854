// Visits the partitions of several SSTables in token order. SSTables with the same partition are visited
// together.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "base/result.h"
#include "sstable/data_reader.h"

namespace sibyl::cli::import_sstables {

class Merge {
 public:
  explicit Merge(std::vector<std::unique_ptr<sstable::DataReader>> readers);

  // A reader that has reached the first item of the partition.
  struct Member {
    sstable::DataReader* reader = nullptr;
    sstable::Partition partition;
  };
  // Returns the readers that have the next partition; empty after the last. REQUIRES: all items of the
  // previously returned members have been read.
  base::Result<std::vector<Member>> next();

  uint64_t offset() const;       // in all files
  uint64_t data_length() const;  // of all files

 private:
  struct Head {
    std::unique_ptr<sstable::DataReader> reader;
    std::optional<sstable::Partition> partition;
    int64_t token = 0;
    bool is_stale = true;  // its next partition has not been read
  };
  static base::Status advance(Head& head);

  std::vector<Head> heads_;
};

}  // namespace sibyl::cli::import_sstables
