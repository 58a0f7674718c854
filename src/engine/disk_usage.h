// Guardrails on what lies on the disk: how full it is, and how large partitions are.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "base/result.h"
#include "plan/guardrails.h"
#include "storage/store.h"

namespace sibyl::engine {

// The guardrail on large partitions: whatever is written to a data file above its thresholds is logged, as
// Cassandra does. The store must not outlive what `name_of` uses.
void watch_partition_sizes(storage::Store& store, const plan::Guardrails& guardrails,
                           std::function<std::string(base::BytesView key)> name_of);

// Any thread. Looks at the disk at most once a second, and only when the guardrail is set.
class DiskUsage {
 public:
  // Borrows all of them. An empty path, or that of a store in memory: never full.
  DiskUsage(const plan::Guardrails& guardrails, const storage::Store& store, std::string path);

  // To be asked by every write: Cassandra's refusal when the disk is too full, a warning when it is nearly.
  base::Status check(std::vector<std::string>& warnings) {
    if (!is_enabled_) return {};
    return check_now(warnings);
  }
  // Used by the data, of that and what is free (or of data_disk_usage_max_disk_size), rounded up.
  int64_t percentage() const;

 private:
  base::Status check_now(std::vector<std::string>& warnings);
  void look(std::chrono::steady_clock::time_point now);

  const plan::Guardrails& guardrails_;
  const storage::Store& store_;
  const std::string path_;
  const bool is_enabled_;
  std::mutex mutex_;  // held by whoever looks
  std::atomic<int64_t> next_look_{0};
  std::atomic<int64_t> percentage_{0};
  int64_t told_ = 0;  // 0: nothing, 1: nearly full, 2: full; guarded by mutex_
};

}  // namespace sibyl::engine
