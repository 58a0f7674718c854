// The engine's measurements, which a server reports.
#pragma once

#include <cstdint>

#include "storage/store.h"

namespace sibyl::engine {

// Prepared statements that are kept, the bytes of their texts, and the number of evicted ones.
struct PreparedStatistics {
  uint64_t count = 0, bytes = 0, evicted = 0;
};

// Thread-safe.
class Measurements {
 public:
  virtual ~Measurements() = default;

  virtual PreparedStatistics prepared() const = 0;
  // For its statistics and its sizes.
  virtual const storage::Store& store() const = 0;
};

}  // namespace sibyl::engine
