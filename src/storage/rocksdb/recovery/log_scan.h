// Reads the intact groups of a damaged commit log. Changes nothing.
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
  // Descriptions of unreadable parts, such as "000000000003.log: 812 bytes at byte 4096".
  std::vector<std::string> damaged;
};

// Calls `take` for each intact group in the log of the store in `data`, in order, starting at the oldest
// segment that is needed. An incomplete group after the last one of the last segment is not damage.
base::Result<LogScan> scan_log(const std::string& data,
                               const std::function<base::Status(base::BytesView group)>& take);

}  // namespace sibyl::storage::rocksdb
