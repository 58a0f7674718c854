// The engine's measurements, which a server reports.
#pragma once

#include <cstdint>

#include "storage/store.h"

namespace sibyl::engine {

// The number of prepared statements that are kept, the bytes of their texts, and how many have been evicted.
struct PreparedStatistics {
  uint64_t count = 0, bytes = 0, evicted = 0;
};

// Thread-safe.
class Measurements {
 public:
  virtual ~Measurements() = default;

  virtual PreparedStatistics prepared() const = 0;
  // The store, whose statistics and sizes are read.
  virtual const storage::Store& store() const = 0;
};

}  // namespace sibyl::engine
