// Copies the intact records of a damaged store to a new one.
//
// Table files are read block by block and the commit log group by group, without RocksDB. Every record with a
// correct checksum is written to the new store, in the original order. The old directory is not changed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"

namespace sibyl::storage::rocksdb {

struct Salvaged {
  uint64_t table_files = 0;
  uint64_t records = 0;  // number of records in table files, before they are merged with the log
  uint64_t log_segments = 0, log_groups = 0;

  // A lost part of a table file. Its records were between the two keys; an empty key is not known.
  struct Loss {
    std::string file, what;  // for example "000012.sst" and "4101 bytes at byte 8192"
    base::Bytes first_key, last_key;
  };
  std::vector<Loss> losses;
  std::vector<std::string> log_losses;
  // Uncertainties that remain although every byte that was found is intact.
  std::vector<std::string> doubts;

  bool is_complete() const { return losses.empty() && log_losses.empty() && doubts.empty(); }
};

// `to` must not exist or must be empty; after an error it is restored to that. The store in `data` must not
// be open.
base::Result<Salvaged> salvage(const std::string& data, const std::string& to);

}  // namespace sibyl::storage::rocksdb
