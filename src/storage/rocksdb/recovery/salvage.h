// Saves what is intact of a damaged store into a new one.
//
// Table files and the commit log are read block by block and group by group, without RocksDB, and every
// record whose checksum fits is written to a new store, in the order in which it was written once. The old
// directory is not changed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"

namespace sibyl::storage::rocksdb {

struct Salvaged {
  uint64_t table_files = 0;
  uint64_t records = 0;  // of table files, before they are merged with the log's
  uint64_t log_segments = 0, log_groups = 0;

  // Part of a table file that is lost. Its records were between the two keys; empty: not known.
  struct Loss {
    std::string file, what;  // "000012.sst", "4101 bytes at byte 8192"
    base::Bytes first_key, last_key;
  };
  std::vector<Loss> losses;
  std::vector<std::string> log_losses;
  // What is uncertain although every byte that was found is intact.
  std::vector<std::string> doubts;

  bool is_complete() const { return losses.empty() && log_losses.empty() && doubts.empty(); }
};

// `to` must not exist or be empty; after an error it is as it was. `data` must not be open.
base::Result<Salvaged> salvage(const std::string& data, const std::string& to);

}  // namespace sibyl::storage::rocksdb
