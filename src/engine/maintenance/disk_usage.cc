#include "engine/maintenance/disk_usage.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <sys/statvfs.h>

#include <algorithm>

namespace sibyl::engine {
namespace {

bool is_set(const plan::Threshold& threshold) {
  return threshold.warn > 0 || threshold.fail > 0;
}

bool exceeds(int64_t value, int64_t bound) {
  return bound > 0 && value > bound;
}

}  // namespace

void watch_partition_sizes(storage::Store& store, const plan::Guardrails& guardrails,
                           std::function<std::string(base::BytesView key)> name_of) {
  const plan::Threshold limits = guardrails.partition_size;
  if (!is_set(limits)) return;
  const int64_t lowest = limits.warn > 0 && limits.fail > 0 ? std::min(limits.warn, limits.fail)
                                                            : std::max(limits.warn, limits.fail);
  store.set_large_partition_callback(static_cast<uint64_t>(lowest), [limits, name_of = std::move(name_of)](
                                                                        base::BytesView key, uint64_t bytes) {
    const bool fails = exceeds(static_cast<int64_t>(bytes), limits.fail);
    spdlog::log(
        fails ? spdlog::level::err : spdlog::level::warn,
        "Guardrail partition_size violated: Partition {} has size {}, this exceeds the {} threshold of "
        "{}. Too large partitions can cause performance problems.",
        name_of(key), bytes, fails ? "failure" : "warning", fails ? limits.fail : limits.warn);
  });
}

DiskUsage::DiskUsage(const plan::Guardrails& guardrails, const storage::Store& store, std::string path)
    : guardrails_(guardrails),
      store_(store),
      path_(std::move(path)),
      is_enabled_(is_set(guardrails.data_disk_usage_percentage) && !path_.empty() && path_ != ":memory:") {}

int64_t DiskUsage::percentage() const {
  struct statvfs disk{};
  if (::statvfs(path_.c_str(), &disk) != 0) return 0;
  const storage::StoreStatistics store = store_.statistics();
  const uint64_t used = store.bytes_on_disk;
  uint64_t total = used + static_cast<uint64_t>(disk.f_bavail) * disk.f_frsize;
  if (const int64_t max_bytes = guardrails_.data_disk_usage_max_disk_size; max_bytes > 0)
    total = std::min(total, static_cast<uint64_t>(max_bytes));
  if (total == 0) return 100;
  // Counts data in memory, because it will be written to the disk.
  const uint64_t wanted = (used + store.memtable_bytes) * 100;
  return static_cast<int64_t>((wanted + total - 1) / total);
}

base::Status DiskUsage::check_now(std::vector<std::string>& warnings) {
  const auto now = std::chrono::steady_clock::now();
  if (now.time_since_epoch().count() >= next_measurement_.load(std::memory_order_relaxed) &&
      mutex_.try_lock()) {
    measure(now);
    mutex_.unlock();
  }
  const int64_t found = percentage_.load(std::memory_order_relaxed);
  const plan::Threshold& threshold = guardrails_.data_disk_usage_percentage;
  if (exceeds(found, threshold.fail))
    return base::invalid(
        "Guardrail replica_disk_usage violated: Write request failed because disk usage exceeds failure "
        "threshold");
  if (exceeds(found, threshold.warn))
    warnings.push_back("Guardrail replica_disk_usage violated: Replica disk usage exceeds warning threshold");
  return {};
}

void DiskUsage::measure(std::chrono::steady_clock::time_point now) {
  const int64_t found = percentage();
  percentage_.store(found, std::memory_order_relaxed);
  next_measurement_.store((now + std::chrono::seconds(1)).time_since_epoch().count(),
                          std::memory_order_relaxed);
  const plan::Threshold& threshold = guardrails_.data_disk_usage_percentage;
  const int64_t state = exceeds(found, threshold.fail) ? 2 : exceeds(found, threshold.warn) ? 1 : 0;
  if (state == 2 && logged_state_ != 2)
    spdlog::error(
        "Guardrail local_data_disk_usage violated: Local data disk usage {}%(FULL) exceeds failure threshold "
        "of {}%, will stop accepting writes",
        found, threshold.fail);
  if (state == 1 && logged_state_ != 1)
    spdlog::warn(
        "Guardrail local_data_disk_usage violated: Local data disk usage {}%(STUFFED) exceeds warning "
        "threshold "
        "of {}%",
        found, threshold.warn);
  logged_state_ = state;
}

}  // namespace sibyl::engine
