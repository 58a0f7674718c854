// Reads the groups of a commit log around whatever is damaged. Changes nothing.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"

namespace sibyl::storage::rocksdb {

struct LogScan {
  uint64_t segments = 0, groups = 0, bytes = 0;
  // What could not be read, a text each: "000000000003.log: 812 bytes at byte 4096".
  std::vector<std::string> damaged;
};

// Calls `take` for each intact group of the log of the store in `data`, in order, from the oldest segment
// that is needed. Behind the last group of the last segment an incomplete one may lie, which is no damage.
base::Result<LogScan> scan_log(const std::string& data,
                               const std::function<base::Status(base::BytesView group)>& take);

}  // namespace sibyl::storage::rocksdb
