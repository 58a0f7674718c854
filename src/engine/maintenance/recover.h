// Copies the intact part of a damaged data directory into a new one, and reports the losses. Used by `sibyl
// recover`.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace sibyl::engine {

struct Recovery {
  uint64_t data_files = 0, records = 0, log_segments = 0, log_groups = 0;  // numbers read
  // One text per loss: the file, the bytes, and the tables and partitions between which the records were.
  std::vector<std::string> losses;
  std::vector<std::string> affected_tables;  // tables that the losses may affect, such as "shop.orders"
  std::vector<std::string> doubts;           // other uncertainties

  bool is_complete() const { return losses.empty() && doubts.empty(); }
};

// `to` must be empty or not exist. On success it is a complete data directory; after an error it is
// unchanged. `data` is not modified. REQUIRES: no server uses `data`.
base::Result<Recovery> recover(const std::string& data, const std::string& to);

}  // namespace sibyl::engine
