// Rows of a file into a table, over several connections with many writes under way on each.
//
// The file is cut into pieces of whole records; what is acknowledged up to is journalled beside it, so that
// after any end of the process the next run goes on from there. Writes that may have run are sent again: that
// changes nothing, which is why counters are refused. Rows that cannot be written are kept with the reasons.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "sibyl/copy.h"

namespace sibyl::copy {

struct ImportOptions : CommonOptions {
  uint64_t max_errors = 1000;
  unsigned window = 512;  // writes under way on each connection
  std::optional<int32_t> ttl;
  std::optional<int64_t> timestamp;
  bool write_nulls = false;
  std::string journal;   // empty: FILE.import
  std::string rejected;  // the file for rejected rows; empty: named after the file
};

// The process's exit status.
int run_import(const ImportOptions& options);

}  // namespace sibyl::copy
