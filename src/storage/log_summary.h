// The extent of the log of a server in a cluster.
#pragma once

#include <cstdint>

namespace sibyl::storage {

struct LogSummary {
  uint64_t first_segment = 0, last_segment = 0;  // the existing segments; 0: there are none
  uint64_t last_record = 0;  // the number of the last record in these segments; 0: unknown
  uint64_t bytes = 0;        // of these segments
  bool is_sealed = false;    // another server has ended the log
};

}  // namespace sibyl::storage
