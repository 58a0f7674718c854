#include "storage/rocksdb/group_writer.h"

#include <spdlog/spdlog.h>

#include <algorithm>

#include "base/contain.h"
#include "storage/rocksdb/merging.h"
#include "storage/rocksdb/reading.h"

namespace sibyl::storage::rocksdb {

using ::rocksdb::Slice;

namespace {

base::Error broken() {
  return base::Error(base::ErrorCode::write_failure, "The store failed in the middle of a write")
      .with_hint("nothing that was acknowledged is lost; restart the server");
}

// After a clean shutdown there is nothing to replay. Programs that embed the store should not log a message
// then.
void log_recovery(const WriteLog::Recovered& recovered) {
  spdlog::log(recovered.groups > 0 ? spdlog::level::info : spdlog::level::debug,
              "commit log: {} segments read, {} groups with {} bytes replayed", recovered.segments,
              recovered.groups, recovered.bytes);
  if (recovered.incomplete)
    spdlog::warn(
        "commit log: the group at byte {} of {} is incomplete: its {} bytes were not all written, and it is "
        "dropped",
        recovered.incomplete->offset, recovered.incomplete->path, recovered.incomplete->size);
  if (!recovered.missing_directory.empty())
    spdlog::warn(
        "commit log: {} has no segment, although the store used one before. Nothing is lost, because the "
        "store was closed cleanly; but check that the volume of this directory is mounted",
        recovered.missing_directory);
}

}  // namespace

void HotKeys::record_merge(BytesView key, size_t bytes) {
  const size_t rounds = bytes / (limit * max_rewritten_per_fragment);
  const size_t hash = std::hash<BytesView>{}(key);
  if (rounds == 0) {
    large_.erase(hash);
    return;
  }
  // If the counts are cleared, each record may be merged once too early.
  if (large_.size() >= max_large) large_.clear();
  large_[hash] = rounds;
}

bool HotKeys::is_due(size_t hash) {
  const auto found = large_.find(hash);
  if (found == large_.end()) return true;
  if (--found->second > 0) return false;
  large_.erase(found);
  return true;
}

base::Result<std::unique_ptr<GroupWriter>> GroupWriter::open(const OpenLog& log, Tables tables,
                                                             bool syncs_each) {
  std::unique_ptr<GroupWriter> writer(new GroupWriter(tables, syncs_each));
  SIBYL_TRY(writer->replay(log));
  return writer;
}

// Applies the groups of the log again, in order. Groups that are already in the tables change nothing:
// merging is idempotent, and the last put or erasure of a key decides.
base::Status GroupWriter::replay(const OpenLog& open_log) {
  WriteLog::Replay replay;
  replay.group = [this](BytesView group) {
    ::rocksdb::WriteBatch batch{Bytes(group)};
    erased_tables_.add(batch, database_.GetLatestSequenceNumber());
    partition_records_.add_keys(batch);
    return apply(batch);
  };
  replay.end_of_segment = [this](uint64_t segment) {
    segments_.emplace_back(segment, database_.GetLatestSequenceNumber());
  };
  Bytes position;
  SIBYL_TRY(read_record(database_, {}, position_key, position, damage_));
  SIBYL_ASSIGN(log_, open_log(replay, position));
  log_recovery(log_->recovered());
  return {};
}

base::Status GroupWriter::write(std::span<Committer::Request> group) {
  if (has_posted_.load(std::memory_order_acquire)) run_posted();
  SIBYL_TRY(gather(group));
  base::Status status = append();
  log_state_change(status);
  return status;
}

base::Status GroupWriter::sync() {
  base::Status synced = log_->sync();
  if (!synced) log_state_change(synced);
  return synced;
}

base::Status GroupWriter::gather(std::span<Committer::Request> group) {
  SIBYL_TRY(begin_group());
  if (row_cache_ != nullptr) row_cache_->clear();
  for (const Committer::Request& request : group) {
    if (row_cache_ != nullptr) row_cache_->add(request.writes);
    for (const WriteSet::Operation& operation : request.writes.operations()) add(operation);
  }
  return {};
}

base::Status GroupWriter::begin_group() {
  if (is_broken_) return base::fail(broken());
  if (ended_) return base::fail(*ended_);
  batch_.Clear();
  hot_.clear();  // reports of a failed group may be left
  return {};
}

void GroupWriter::add(const WriteSet::Operation& operation) {
  const Slice key = slice_of(operation.key);
  const Slice value = slice_of(operation.value);
  partition_records_.add_key(operation.key);
  switch (operation.action) {
    case WriteSet::Action::merge:
      (void)batch_.Merge(key, value);
      if (hot_keys_.count(operation.key)) hot_.push_back(operation.key);
      break;
    case WriteSet::Action::put:
      (void)batch_.Put(key, value);
      break;
    case WriteSet::Action::erase:
      (void)batch_.Delete(key);
      break;
    case WriteSet::Action::erase_range:
      if (operation.key < operation.value) (void)batch_.DeleteRange(key, value);
      break;
  }
}

base::Status GroupWriter::append() {
  const BytesView group = prepare_group();
  if (group.empty()) return {};
  const auto started = std::chrono::steady_clock::now();
  const base::Status logged = log_->append(group, syncs_each_);
  if (logged)
    record_sync(
        std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() - started));
  return finish_group(logged);
}

BytesView GroupWriter::prepare_group() {
  if (batch_.Count() == 0) return {};
  resume_after_failure();
  if (const Bytes position = log_->next_position(); !position.empty())
    (void)batch_.Put(slice_of(position_key), slice_of(position));
  return batch_.Data();
}

base::Status GroupWriter::finish_group(const base::Status& logged) {
  if (!logged) {
    if (logged.error().code() == base::ErrorCode::write_timeout) return refuse_from_now_on(logged);
    abandon_log();
    return logged;
  }
  const uint64_t sequence = database_.GetLatestSequenceNumber();
  if (auto status = apply_group(); !status) {
    if (!log_->can_undo()) return refuse_from_now_on(status);
    (void)log_->undo();
    return status;
  }
  if (syncs_each_) log_->note_synced();  // done as late as this because a noted group cannot be undone
  // The group is committed. Failures from here on do not matter.
  (void)base::contain([&] {
    erased_tables_.add(batch_, sequence);
    if (batch_.GetDataSize() > max_kept_batch) batch_ = ::rocksdb::WriteBatch();
    release_segments();
    merge_hot_keys();
  });
  return {};
}

// The log may hold a group that the tables do not have. Only a restart shows whether the log holds it.
base::Status GroupWriter::refuse_from_now_on(const base::Status& status) {
  ended_ = base::Error(base::ErrorCode::server, status.error().message()).with_hint("restart the server");
  spdlog::critical("writes are refused until a restart: {}", status.error().text());
  return base::fail(base::Error(base::ErrorCode::write_timeout, status.error().message())
                        .with_hint("the write may have been stored; a restart of the server decides"));
}

void GroupWriter::record_sync(std::chrono::microseconds taken) {
  constexpr int weight = 8;  // the weight of the previous average, relative to one new value
  sync_micros_.record(static_cast<uint64_t>(taken.count()));
  if (syncs_each_) sync_time_.store(sync_time() + (taken - sync_time()) / weight, std::memory_order_relaxed);
}

// Called when a table file could not be written, perhaps by a compaction. Calls Resume(), but not with every
// group.
void GroupWriter::resume_after_failure() {
  if (!background_.failed()) return;
  constexpr auto pause = std::chrono::milliseconds(100);
  const auto now = std::chrono::steady_clock::now();
  if (now < next_resume_) return;
  next_resume_ = now + pause;
  background_.resume(database_).PermitUncheckedError();
}

// Called after the log's device failed. The contents of the log are flushed to table files; once they are
// there, an empty log is started. Only requests the flush and does not wait for it, because other commits are
// waiting.
void GroupWriter::abandon_log() {
  if (!log_->sync_failed()) return;
  if (background_.flushed() >= database_.GetLatestSequenceNumber()) {
    (void)log_->release_all();
    return;
  }
  ::rocksdb::FlushOptions options;
  options.wait = false;
  options.allow_write_stall = true;
  background_.flush(database_, options).PermitUncheckedError();
}

base::Status GroupWriter::apply_group() {
  if (row_cache_ == nullptr) return apply(batch_);
  row_cache_->begin();
  base::Status status = apply(batch_);
  row_cache_->finish(status.has_value());
  return status;
}

base::Status GroupWriter::apply(::rocksdb::WriteBatch& batch) {
  ::rocksdb::WriteOptions options;
  options.disableWAL = true;
  const uint64_t last_file = background_.last_file();
  ::rocksdb::Status status;
  const base::Status returned = base::contain([&] { status = database_.Write(options, &batch); });
  if (!returned) {
    is_broken_ = true;
    spdlog::critical("writes are refused until a restart: RocksDB threw {}", returned.error().message());
    return base::fail(broken());
  }
  // After a failed flush RocksDB refuses writes until Resume() is called.
  if (!status.ok() && background_.resume(database_).ok()) status = database_.Write(options, &batch);
  if (!status.ok()) return base::fail(error_of(status, base::ErrorCode::write_failure));
  if (batch.HasDeleteRange()) (void)base::contain([&] { reclaimer_.add(batch, last_file); });
  return {};
}

void GroupWriter::post(std::function<void()> task) {
  const std::lock_guard lock(posted_mutex_);
  posted_.push_back(std::move(task));
  has_posted_.store(true, std::memory_order_release);
}

void GroupWriter::run_posted() {
  std::vector<std::function<void()>> tasks;
  {
    const std::lock_guard lock(posted_mutex_);
    tasks.swap(posted_);
    has_posted_.store(false, std::memory_order_relaxed);
  }
  for (const auto& task : tasks) task();
}

void GroupWriter::trim_log() {
  using Properties = ::rocksdb::DB::Properties;
  uint64_t active = 1, immutable = 1;
  database_.GetIntProperty(Properties::kNumEntriesActiveMemTable, &active);
  database_.GetIntProperty(Properties::kNumEntriesImmMemTables, &immutable);
  if (active + immutable == 0) {
    (void)log_->release_all();
  } else {
    release_segments();
  }
  (void)log_->trim();
}

// Releases the segments whose groups are all in files.
void GroupWriter::release_segments() {
  const uint64_t sequence = database_.GetLatestSequenceNumber();
  if (segments_.empty() || segments_.back().first != log_->segment())
    segments_.emplace_back(log_->segment(), 0);
  segments_.back().second = sequence;
  while (segments_.size() > 1 && segments_.front().second <= background_.flushed()) {
    log_->release(segments_.front().first);
    segments_.pop_front();
  }
}

// Replaces the fragments of frequently written records with their merge, so that reading them stays cheap.
// This needs no log: readers see no difference, no other thread writes, and if a crash undoes it, no data is
// lost.
void GroupWriter::merge_hot_keys() {
  if (hot_.empty()) return;
  // A group may report the same record many times.
  std::sort(hot_.begin(), hot_.end());
  hot_.erase(std::unique(hot_.begin(), hot_.end()), hot_.end());
  batch_.Clear();
  Bytes value;
  // Other writes wait while this runs. Flushes merge the fragments of larger records.
  constexpr size_t max_rewritten = 1 << 20, assumed_if_refused = 64 << 20;
  const MergeLimit limit(max_rewritten);
  for (const Bytes& key : hot_) {
    const auto found = read_record(database_, {}, key, value, damage_);
    if (!found) hot_keys_.record_merge(key, assumed_if_refused);
    if (!found || !*found) continue;
    if (value.size() <= max_rewritten) (void)batch_.Put(slice_of(key), slice_of(value));
    hot_keys_.record_merge(key, value.size());
  }
  hot_.clear();
  ::rocksdb::WriteOptions options;
  options.disableWAL = true;
  if (batch_.Count() > 0) database_.Write(options, &batch_).PermitUncheckedError();
}

// Logs when the device begins to refuse writes and when it accepts them again, but not every failure.
void GroupWriter::log_state_change(const base::Status& status) {
  if (status.has_value() == !is_refusing_) return;
  is_refusing_ = !status;
  if (status)
    spdlog::info("writes are accepted again");
  else
    spdlog::error("writes are refused: {}", status.error().text());
}

}  // namespace sibyl::storage::rocksdb
