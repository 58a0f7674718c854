// Saves what is intact of a damaged data directory into a new one, and says what is lost: behind `sibyl
// recover`.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace sibyl::engine {

struct Recovery {
  uint64_t data_files = 0, records = 0, log_segments = 0, log_groups = 0;  // read
  // Lost, a text each: the file, the bytes, and between which partitions of which tables the records were.
  std::vector<std::string> losses;
  std::vector<std::string> affected_tables;  // "shop.orders"; those that the losses may concern
  std::vector<std::string> doubts;           // what is uncertain beside

  bool is_complete() const { return losses.empty() && doubts.empty(); }
};

// `to` must not exist or be empty, and is a whole data directory when this succeeds; after an error it is as
// it was. `data` is not changed. No server may use it.
base::Result<Recovery> recover(const std::string& data, const std::string& to);

}  // namespace sibyl::engine
