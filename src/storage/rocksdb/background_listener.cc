#include "storage/rocksdb/background_listener.h"

namespace sibyl::storage::rocksdb {
namespace {

std::string base_name(const std::string& path) {
  return path.substr(path.rfind('/') + 1);
}

}  // namespace

std::vector<StoreTask> BackgroundListener::tasks() const {
  const std::lock_guard lock(mutex_);
  std::vector<StoreTask> tasks;
  for (const auto& [job, task] : tasks_) tasks.push_back(task);
  return tasks;
}

void BackgroundListener::fill(StoreStatistics& statistics) const {
  statistics.flushes = flushes_;
  statistics.flush_bytes = flush_bytes_;
  statistics.compactions = compactions_;
  statistics.compaction_bytes_read = compaction_read_;
  statistics.compaction_bytes_written = compaction_written_;
  statistics.background_errors = errors_;
}

void BackgroundListener::OnFlushCompleted(::rocksdb::DB*, const ::rocksdb::FlushJobInfo& info) {
  uint64_t known = flushed_.load();
  while (known < info.largest_seqno && !flushed_.compare_exchange_weak(known, info.largest_seqno)) {
  }
  flushes_ += 1;
  flush_bytes_ += info.table_properties.data_size;
}

void BackgroundListener::OnCompactionBegin(::rocksdb::DB*, const ::rocksdb::CompactionJobInfo& info) {
  StoreTask task;
  task.id = static_cast<uint64_t>(info.job_id);
  task.started_micros = clock_.now_micros();
  for (const std::string& path : info.input_files) task.inputs.push_back({base_name(path), {}, {}, 0});
  const std::lock_guard lock(mutex_);
  tasks_[info.job_id] = std::move(task);
}

void BackgroundListener::OnCompactionCompleted(::rocksdb::DB*, const ::rocksdb::CompactionJobInfo& info) {
  compactions_ += 1;
  compaction_read_ += info.stats.total_input_bytes;
  compaction_written_ += info.stats.total_output_bytes;
  const std::lock_guard lock(mutex_);
  tasks_.erase(info.job_id);
}

void BackgroundListener::OnBackgroundError(::rocksdb::BackgroundErrorReason reason,
                                           ::rocksdb::Status* status) {
  // A compaction that meets a damaged block changes nothing, so writes need not stop for it.
  if (reason == ::rocksdb::BackgroundErrorReason::kCompaction && status->IsCorruption()) {
    damage_->background(*status);
    errors_ += 1;
    *status = ::rocksdb::Status::OK();
    return;
  }
  failed_ = true;
  errors_ += 1;
}

}  // namespace sibyl::storage::rocksdb
