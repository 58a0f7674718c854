// Guardrails on disk usage and on partition sizes.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "base/result.h"
#include "plan/guardrails.h"
#include "storage/store.h"

namespace sibyl::engine {

// Installs the guardrail on large partitions. When a data file is written, partitions above the thresholds
// are logged, as in Cassandra. The objects that `name_of` uses must outlive the store.
void watch_partition_sizes(storage::Store& store, const plan::Guardrails& guardrails,
                           std::function<std::string(base::BytesView key)> name_of);

// Thread-safe. Measures the disk at most once a second, and only if the guardrail is set.
class DiskUsage {
 public:
  // Borrows `guardrails` and `store`. With an empty path or a store in memory the disk is never full.
  DiskUsage(const plan::Guardrails& guardrails, const storage::Store& store, std::string path);

  // Must be called by every write. Returns Cassandra's error if the disk is too full; adds a warning if it is
  // nearly full.
  base::Status check(std::vector<std::string>& warnings) {
    if (!is_enabled_) return {};
    return check_now(warnings);
  }
  // Bytes used by the data as a percentage of those bytes plus free space (or of
  // data_disk_usage_max_disk_size), rounded up.
  int64_t percentage() const;

 private:
  base::Status check_now(std::vector<std::string>& warnings);
  void measure(std::chrono::steady_clock::time_point now) SIBYL_REQUIRES(mutex_);

  const plan::Guardrails& guardrails_;
  const storage::Store& store_;
  const std::string path_;
  const bool is_enabled_;
  base::Mutex mutex_;                         // held while measuring
  std::atomic<int64_t> next_measurement_{0};  // steady clock ticks
  std::atomic<int64_t> percentage_{0};
  // The state that was logged last: 0 normal, 1 nearly full, 2 full.
  int64_t logged_state_ SIBYL_GUARDED_BY(mutex_) = 0;
};

}  // namespace sibyl::engine
