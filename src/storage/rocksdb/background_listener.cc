#include "storage/rocksdb/background_listener.h"

#include <algorithm>
#include <charconv>

#include "storage/rocksdb/cache/large_records.h"
#include "storage/rocksdb/space/guarded_files.h"

namespace sibyl::storage::rocksdb {
namespace {

// The number of finished compactions to remember.
constexpr size_t max_ended = 256;

uint64_t number_of(::rocksdb::DB& database, const std::string& property) {
  uint64_t number = 0;
  return database.GetIntProperty(property, &number) ? number : 0;
}

std::string base_name(const std::string& path) {
  return path.substr(path.rfind('/') + 1);
}

}  // namespace

uint64_t table_file_number(std::string_view path) {
  if (!path.ends_with(".sst")) return 0;
  path.remove_prefix(path.rfind('/') + 1);
  uint64_t number = 0;
  std::from_chars(path.data(), path.data() + path.size(), number);
  return number;
}

::rocksdb::Status BackgroundListener::flush(::rocksdb::DB& database, const ::rocksdb::FlushOptions& options) {
  std::unique_lock lock(flush_mutex_, std::defer_lock);
  if (options.wait)
    lock.lock();
  else if (!lock.try_lock())
    return ::rocksdb::Status::TryAgain("another thread flushes or resumes");
  return database.Flush(options);
}

// A compaction may take too long to hold the mutex for all of it.
::rocksdb::Status BackgroundListener::compact(::rocksdb::DB& database,
                                              const ::rocksdb::CompactRangeOptions& options,
                                              const ::rocksdb::Slice* begin, const ::rocksdb::Slice* end) {
  {
    const std::lock_guard lock(flush_mutex_);
    ++compacting_;
  }
  const ::rocksdb::Status status = database.CompactRange(options, begin, end);
  --compacting_;
  return status;
}

::rocksdb::Status BackgroundListener::resume(::rocksdb::DB& database) {
  const std::unique_lock lock(flush_mutex_, std::try_to_lock);
  using Properties = ::rocksdb::DB::Properties;
  if (!lock || compacting_ > 0 || number_of(database, Properties::kNumRunningFlushes) > 0 ||
      number_of(database, Properties::kNumRunningCompactions) > 0)
    return ::rocksdb::Status::Busy("another thread flushes, compacts or resumes");
  forget_failure();
  return database.Resume();
}

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

void BackgroundListener::OnFlushBegin(::rocksdb::DB*, const ::rocksdb::FlushJobInfo&) {
  mark_flush_thread();
  mark_background_thread();
}

void BackgroundListener::OnFlushCompleted(::rocksdb::DB*, const ::rocksdb::FlushJobInfo& info) {
  uint64_t known = flushed_.load();
  while (known < info.largest_seqno && !flushed_.compare_exchange_weak(known, info.largest_seqno)) {
  }
  flushes_ += 1;
  flush_bytes_ += info.table_properties.data_size;
}

void BackgroundListener::OnCompactionBegin(::rocksdb::DB*, const ::rocksdb::CompactionJobInfo& info) {
  mark_background_thread();
  StoreTask task;
  task.id = static_cast<uint64_t>(info.job_id);
  task.started_micros = clock_.now_micros();
  for (const std::string& path : info.input_files) task.inputs.push_back({base_name(path), {}, {}, 0});
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return pauses_ == 0; });
  tasks_[info.job_id] = std::move(task);
}

void BackgroundListener::OnCompactionCompleted(::rocksdb::DB*, const ::rocksdb::CompactionJobInfo& info) {
  compactions_ += 1;
  compaction_read_ += info.stats.total_input_bytes;
  compaction_written_ += info.stats.total_output_bytes;
  Ended ended;
  for (const std::string& path : info.input_files) ended.inputs.push_back(table_file_number(path));
  for (const std::string& path : info.output_files) ended.outputs.push_back(table_file_number(path));
  const std::lock_guard lock(mutex_);
  tasks_.erase(info.job_id);
  ended_.push_back(std::move(ended));
  if (ended_.size() > max_ended) ended_.pop_front();
  changed_.notify_all();
}

void BackgroundListener::OnBackgroundError(::rocksdb::BackgroundErrorReason reason,
                                           ::rocksdb::Status* status) {
  // A compaction that encounters a damaged block changes nothing, so writes need not stop.
  if (reason == ::rocksdb::BackgroundErrorReason::kCompaction && status->IsCorruption()) {
    damage_->background(*status);
    errors_ += 1;
    *status = ::rocksdb::Status::OK();
    return;
  }
  errors_ += 1;
  // A compaction that cannot write its outputs leaves its inputs unchanged, and RocksDB retries it later.
  if (reason == ::rocksdb::BackgroundErrorReason::kCompaction && status->IsNoSpace()) {
    had_space_shortage_ = true;
    *status = ::rocksdb::Status::OK();
    return;
  }
  failed_ = true;
}

// Stops RocksDB's own recovery, which waits until there is space for all write buffers and refuses Resume()
// meanwhile.
void BackgroundListener::OnErrorRecoveryBegin(::rocksdb::BackgroundErrorReason, ::rocksdb::Status status,
                                              bool* auto_recovery) {
  status.PermitUncheckedError();
  *auto_recovery = false;
}

void BackgroundListener::OnTableFileCreationStarted(const ::rocksdb::TableFileCreationBriefInfo& info) {
  set_last_file(table_file_number(info.file_path));
}

void BackgroundListener::set_last_file(uint64_t number) {
  uint64_t known = last_file_.load();
  while (known < number && !last_file_.compare_exchange_weak(known, number)) {
  }
}

bool BackgroundListener::was_written_before(uint64_t file, uint64_t last_file) const {
  const std::lock_guard lock(mutex_);
  return is_older(file, last_file);
}

// REQUIRES: mutex_ is held. A file that was only moved to another level is its own input.
bool BackgroundListener::is_older(uint64_t file, uint64_t last_file) const {
  if (file <= last_file) return true;
  const auto made = std::find_if(ended_.begin(), ended_.end(), [file](const Ended& ended) {
    return std::find(ended.outputs.begin(), ended.outputs.end(), file) != ended.outputs.end() &&
           std::find(ended.inputs.begin(), ended.inputs.end(), file) == ended.inputs.end();
  });
  return made != ended_.end() && std::all_of(made->inputs.begin(), made->inputs.end(), [&](uint64_t input) {
           return input < file && is_older(input, last_file);
         });
}

// REQUIRES: mutex_ is held.
bool BackgroundListener::reads_above(uint64_t last_file) const {
  return std::any_of(tasks_.begin(), tasks_.end(), [&](const auto& task) {
    return std::any_of(task.second.inputs.begin(), task.second.inputs.end(),
                       [&](const StoreFile& input) { return table_file_number(input.name) > last_file; });
  });
}

BackgroundListener::Pause::Pause(BackgroundListener& listener, uint64_t last_file,
                                 std::chrono::milliseconds patience)
    : listener_(listener) {
  std::unique_lock lock(listener_.mutex_);
  ++listener_.pauses_;
  holds_ = listener_.changed_.wait_for(lock, patience, [&] { return !listener_.reads_above(last_file); });
}

BackgroundListener::Pause::~Pause() {
  const std::lock_guard lock(listener_.mutex_);
  --listener_.pauses_;
  listener_.changed_.notify_all();
}

}  // namespace sibyl::storage::rocksdb
