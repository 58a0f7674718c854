#include "storage/rocksdb/rocksdb_store.h"

#include <fmt/format.h>
#include <rocksdb/cache.h>
#include <rocksdb/db.h>
#include <rocksdb/env.h>
#include <rocksdb/listener.h>
#include <rocksdb/statistics.h>
#include <rocksdb/write_batch.h>
#include <spdlog/spdlog.h>

#include <array>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <thread>

#include "storage/rocksdb/checkpoint.h"
#include "storage/rocksdb/commit_log.h"
#include "storage/rocksdb/committer.h"
#include "storage/rocksdb/damage.h"
#include "storage/rocksdb/database_options.h"
#include "storage/rocksdb/directory.h"
#include "storage/rocksdb/merging.h"
#include "storage/rocksdb/partition_samples.h"
#include "storage/rocksdb/partition_sizes.h"
#include "storage/rocksdb/recoverable_files.h"

namespace sibyl::storage::rocksdb {
namespace {

using ::rocksdb::Slice;

Slice slice_of(BytesView bytes) {
  return {bytes.data(), bytes.size()};
}

// What RocksDB does in the background: how far the tables have been written to files (everything up to this
// sequence number needs no log), and whether writing one failed.
class BackgroundListener final : public ::rocksdb::EventListener {
 public:
  explicit BackgroundListener(std::shared_ptr<DamageReport> damage) : damage_(std::move(damage)) {}
  void OnFlushCompleted(::rocksdb::DB*, const ::rocksdb::FlushJobInfo& info) override {
    uint64_t known = flushed_.load();
    while (known < info.largest_seqno && !flushed_.compare_exchange_weak(known, info.largest_seqno)) {
    }
    flushes_ += 1;
    flush_bytes_ += info.table_properties.data_size;
  }
  void OnCompactionBegin(::rocksdb::DB*, const ::rocksdb::CompactionJobInfo& info) override {
    StoreTask task;
    task.id = static_cast<uint64_t>(info.job_id);
    task.started_micros = clock_.now_micros();
    for (const std::string& path : info.input_files) task.inputs.push_back({base_name(path), {}, {}, 0});
    const std::lock_guard lock(mutex_);
    tasks_[info.job_id] = std::move(task);
  }
  void OnCompactionCompleted(::rocksdb::DB*, const ::rocksdb::CompactionJobInfo& info) override {
    compactions_ += 1;
    compaction_read_ += info.stats.total_input_bytes;
    compaction_written_ += info.stats.total_output_bytes;
    const std::lock_guard lock(mutex_);
    tasks_.erase(info.job_id);
  }
  std::vector<StoreTask> tasks() const {
    const std::lock_guard lock(mutex_);
    std::vector<StoreTask> tasks;
    for (const auto& [job, task] : tasks_) tasks.push_back(task);
    return tasks;
  }
  void fill(StoreStatistics& statistics) const {
    statistics.flushes = flushes_;
    statistics.flush_bytes = flush_bytes_;
    statistics.compactions = compactions_;
    statistics.compaction_bytes_read = compaction_read_;
    statistics.compaction_bytes_written = compaction_written_;
    statistics.background_errors = errors_;
  }
  void OnBackgroundError(::rocksdb::BackgroundErrorReason reason, ::rocksdb::Status* status) override {
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

  uint64_t flushed() const { return flushed_.load(); }
  bool failed() const { return failed_.load(std::memory_order_relaxed); }
  void forget_failure() { failed_ = false; }

 private:
  static std::string base_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

  base::SystemClock clock_;
  std::atomic<uint64_t> flushed_ = 0;
  std::atomic<bool> failed_ = false;
  const std::shared_ptr<DamageReport> damage_;
  std::atomic<uint64_t> flushes_ = 0, flush_bytes_ = 0, errors_ = 0;
  std::atomic<uint64_t> compactions_ = 0, compaction_read_ = 0, compaction_written_ = 0;
  mutable std::mutex mutex_;
  std::map<int, StoreTask> tasks_;  // by job; guarded by mutex_
};

// Counts merges by a hash of their key, to find records that gather fragments faster than flushes merge them.
class HotKeys {
 public:
  // Whether the record has had so many fragments that merging them now pays.
  bool count(BytesView key) {
    uint8_t& counter = counters_[std::hash<BytesView>{}(key) % counters_.size()];
    if (++counter < limit) return false;
    counter = 0;
    return true;
  }

 private:
  static constexpr uint8_t limit = 64;
  std::array<uint8_t, 1 << 16> counters_{};
};

class RocksStore final : public Store {
 public:
  static base::Result<std::unique_ptr<Store>> open(const std::string& path, const Options& options);
  ~RocksStore() override;

  using Store::commit;
  void commit(WriteSet writes, Done done) override {
    if (writes.empty()) return done({});
    committer_->submit(std::move(writes), std::move(done));
  }

  base::Result<bool> get(BytesView key, Bytes& value) const override {
    return read(read_options_, key, value);
  }
  base::Status get_many(std::span<const Bytes> keys, std::span<std::optional<Bytes>> values) const override;
  std::unique_ptr<Iterator> iterate(BytesView begin, BytesView end) const override {
    return make_iterator(*database_, read_options_, begin, end, damage_.get());
  }
  std::shared_ptr<const Snapshot> snapshot() const override;

  base::Status flush() override;
  base::Status compact(BytesView begin, BytesView end) override;
  void stop_compacting() { database_->DisableManualCompaction(); }
  void set_purge_policy(std::shared_ptr<const PurgePolicy> policy) override {
    purge_->set_policy(std::move(policy));
  }

  base::Result<std::vector<CheckpointFile>> checkpoint(const std::string& directory) override;
  void set_key_name(std::function<std::string(BytesView)> name) override {
    damage_->set_key_name(std::move(name));
  }

  uint64_t approximate_size(BytesView begin, BytesView end) const override;
  StoreStatistics statistics() const override;
  std::vector<StoreFile> files() const override;
  std::map<uint32_t, uint64_t> largest_partitions() const override;
  std::map<uint32_t, PartitionSample> partition_samples(std::span<const uint32_t> tables,
                                                        size_t most_records) const override {
    return rocksdb::partition_samples(*database_, erased_tables_.only_in_memory(listener_->flushed()), tables,
                                      most_records);
  }
  void watch_partitions(uint64_t bytes, std::function<void(BytesView, uint64_t)> tell) override {
    partition_watch_->set(bytes, std::move(tell));
  }
  std::vector<StoreTask> tasks() const override;

 private:
  class Moment;
  static constexpr size_t max_kept_batch = 8 << 20;  // a larger one's memory is given back

  RocksStore(Directory directory, const Options& options)
      : directory_(std::move(directory)), options_(options) {}
  base::Status open_tables();
  base::Status open_log();
  void start_committer();

  base::Result<bool> read(const ::rocksdb::ReadOptions& options, BytesView key, Bytes& value) const;
  base::Status write_group(std::span<Committer::Request> group);
  base::Status apply(::rocksdb::WriteBatch& batch);
  void resume_after_failure();
  void leave_log();
  void tell(const base::Status& status);
  void merge_hot_keys();
  void release_log();
  uint64_t property(const std::string& name) const;

  // In the order of their making; ended in reverse.
  Directory directory_;
  const Options options_;
  base::SystemClock system_clock_;
  std::shared_ptr<PurgeContext> purge_ = std::make_shared<PurgeContext>();
  std::shared_ptr<DamageReport> damage_ = std::make_shared<DamageReport>();
  std::shared_ptr<BackgroundListener> listener_ = std::make_shared<BackgroundListener>(damage_);
  ::rocksdb::ReadOptions read_options_;
  std::unique_ptr<::rocksdb::Env> environment_;
  std::unique_ptr<::rocksdb::DB> database_;
  std::shared_ptr<::rocksdb::Cache> cache_;
  std::shared_ptr<::rocksdb::Statistics> counters_;
  std::shared_ptr<PartitionWatch> partition_watch_ = std::make_shared<PartitionWatch>();
  mutable ErasedTables erased_tables_;

  // The committer's thread alone uses these once it runs.
  std::unique_ptr<CommitLog> log_;
  std::deque<std::pair<uint64_t, uint64_t>>
      segments_;  // of the log, each with the last sequence number in it
  ::rocksdb::WriteBatch batch_;
  HotKeys hot_keys_;
  std::vector<Bytes> hot_;
  std::chrono::steady_clock::time_point next_resume_;
  bool is_refusing_ = false;  // as the log was told last
  base::Histogram sync_micros_;
  std::unique_ptr<Committer> committer_;
};

base::Result<std::unique_ptr<Store>> RocksStore::open(const std::string& path, const Options& options) {
  SIBYL_ASSIGN(Directory directory, Directory::open(path));
  std::unique_ptr<RocksStore> store(new RocksStore(std::move(directory), options));
  SIBYL_TRY(store->open_tables());
  SIBYL_TRY(store->open_log());
  store->start_committer();
  return store;
}

base::Status RocksStore::open_tables() {
  constexpr int shard_bits = 3;  // many small shards evict what is in use
  cache_ = ::rocksdb::NewLRUCache(options_.block_cache_bytes, shard_bits, false, 0.5);
  ::rocksdb::Options database = database_options(options_, cache_);
  environment_ = make_recoverable_environment(options_.environment != nullptr ? *options_.environment
                                                                              : *::rocksdb::Env::Default());
  database.env = environment_.get();
  purge_->clock = options_.clock != nullptr ? options_.clock : &system_clock_;
  database.compaction_filter_factory = make_purging_filter(purge_);
  database.listeners = {listener_};
  counters_ = ::rocksdb::CreateDBStatistics();
  counters_->set_stats_level(::rocksdb::StatsLevel::kExceptHistogramOrTimers);
  database.statistics = counters_;
  database.table_properties_collector_factories.push_back(make_partition_sizes(partition_watch_));
  database.table_properties_collector_factories.push_back(make_partition_samples());
  ::rocksdb::DB* opened = nullptr;
  const auto status = ::rocksdb::DB::Open(database, directory_.records_path(), &opened);
  if (!status.ok()) return base::fail(error_of(status, base::ErrorCode::server));
  database_.reset(opened);
  purge_->set_database(opened);
  return {};
}

// What the log has is added again, in order. That changes nothing of what the tables have already: merging is
// idempotent, and of puts and erasures the last one of a key decides.
base::Status RocksStore::open_log() {
  CommitLog::Options options;
  options.directory = directory_.log_path();
  options.segment_bytes = options_.log_segment_bytes;
  if (options_.log_disk != nullptr) options.disk = options_.log_disk;
  CommitLog::Replay replay;
  replay.group = [this](BytesView group) {
    ::rocksdb::WriteBatch batch{Bytes(group)};
    erased_tables_.add(batch, database_->GetLatestSequenceNumber());
    return apply(batch);
  };
  replay.end_of_segment = [this](uint64_t segment) {
    segments_.emplace_back(segment, database_->GetLatestSequenceNumber());
  };
  SIBYL_ASSIGN(log_, CommitLog::open(std::move(options), replay));
  return {};
}

void RocksStore::start_committer() {
  Committer::Work work;
  work.write = [this](std::span<Committer::Request> group) {
    auto status = write_group(group);
    tell(status);
    return status;
  };
  work.queue_bytes = options_.queue_bytes;
  if (options_.durability == Durability::periodic) {
    work.interval = options_.sync_interval;
    work.pause = [this] {
      const auto synced = log_->sync();
      if (!synced) tell(synced);
      return synced.has_value();
    };
  }
  committer_ = std::make_unique<Committer>(std::move(work));
}

// The log says when the device begins to refuse writes, and when it takes them again; not each time.
void RocksStore::tell(const base::Status& status) {
  if (status.has_value() == !is_refusing_) return;
  is_refusing_ = !status;
  if (status)
    spdlog::info("writes are taken again");
  else
    spdlog::error("writes are refused: {}", status.error().text());
}

RocksStore::~RocksStore() {
  committer_.reset();
  purge_->set_database(nullptr);
  if (log_ && flush()) (void)log_->release_all();
  log_.reset();
  if (database_) (void)database_->Close();
}

base::Status RocksStore::write_group(std::span<Committer::Request> group) {
  batch_.Clear();
  for (const Committer::Request& request : group) {
    for (const WriteSet::Operation& operation : request.writes.operations()) {
      const Slice key = slice_of(operation.key);
      const Slice value = slice_of(operation.value);
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
  }
  if (batch_.Count() == 0) return {};
  resume_after_failure();
  const auto started = std::chrono::steady_clock::now();
  if (auto status = log_->append(batch_.Data(), options_.durability == Durability::synced); !status) {
    leave_log();
    return status;
  }
  const auto taken = std::chrono::steady_clock::now() - started;
  sync_micros_.record(
      static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::microseconds>(taken).count()));
  const uint64_t sequence = database_->GetLatestSequenceNumber();
  if (auto status = apply(batch_); !status) {
    (void)log_->undo();
    return status;
  }
  erased_tables_.add(batch_, sequence);
  if (batch_.GetDataSize() > max_kept_batch) batch_ = ::rocksdb::WriteBatch();
  release_log();
  merge_hot_keys();
  return {};
}

// A table file could not be written, by a compaction perhaps: RocksDB is told to go on, but not with every
// group.
void RocksStore::resume_after_failure() {
  if (!listener_->failed()) return;
  constexpr auto pause = std::chrono::milliseconds(100);
  const auto now = std::chrono::steady_clock::now();
  if (now < next_resume_) return;
  next_resume_ = now + pause;
  listener_->forget_failure();
  database_->Resume().PermitUncheckedError();
}

// The log's device failed: what is in the log goes to table files as well, and once it is there the log
// begins anew. It only asks for that: other commits wait.
void RocksStore::leave_log() {
  if (!log_->is_doubtful()) return;
  if (listener_->flushed() >= database_->GetLatestSequenceNumber()) {
    (void)log_->release_all();
    return;
  }
  ::rocksdb::FlushOptions options;
  options.wait = false;
  options.allow_write_stall = true;
  database_->Flush(options).PermitUncheckedError();
}

base::Status RocksStore::apply(::rocksdb::WriteBatch& batch) {
  ::rocksdb::WriteOptions options;
  options.disableWAL = true;
  auto status = database_->Write(options, &batch);
  // RocksDB refuses writes after it failed to flush, until it is told that its files can be written again.
  if (!status.ok() && database_->Resume().ok()) status = database_->Write(options, &batch);
  if (!status.ok()) return base::fail(error_of(status, base::ErrorCode::write_failure));
  return {};
}

// The segments whose groups are all in files are given back.
void RocksStore::release_log() {
  const uint64_t sequence = database_->GetLatestSequenceNumber();
  if (segments_.empty() || segments_.back().first != log_->segment())
    segments_.emplace_back(log_->segment(), 0);
  segments_.back().second = sequence;
  while (segments_.size() > 1 && segments_.front().second <= listener_->flushed()) {
    log_->release(segments_.front().first);
    segments_.pop_front();
  }
}

// Replaces a record's fragments by their merge, so that reading a record that is written all the time stays
// cheap. No reader sees a difference, nobody else writes meanwhile, and a crash that loses it loses nothing:
// so no log.
void RocksStore::merge_hot_keys() {
  if (hot_.empty()) return;
  batch_.Clear();
  Bytes value;
  for (const Bytes& key : hot_)
    if (const auto found = get(key, value); found && *found) (void)batch_.Put(slice_of(key), slice_of(value));
  hot_.clear();
  ::rocksdb::WriteOptions options;
  options.disableWAL = true;
  if (batch_.Count() > 0) database_->Write(options, &batch_).PermitUncheckedError();
}

base::Result<bool> RocksStore::read(const ::rocksdb::ReadOptions& options, BytesView key,
                                    Bytes& value) const {
  ::rocksdb::PinnableSlice found;
  const auto status = database_->Get(options, database_->DefaultColumnFamily(), slice_of(key), &found);
  if (status.IsNotFound()) return false;
  if (!status.ok()) return base::fail(damage_->read_error(*database_, status, key));
  value.assign(found.data(), found.size());
  return true;
}

base::Status RocksStore::get_many(std::span<const Bytes> keys, std::span<std::optional<Bytes>> values) const {
  std::vector<Slice> slices(keys.begin(), keys.end());
  std::vector<::rocksdb::PinnableSlice> found(keys.size());
  std::vector<::rocksdb::Status> statuses(keys.size());
  database_->MultiGet(read_options_, database_->DefaultColumnFamily(), keys.size(), slices.data(),
                      found.data(), statuses.data());
  for (size_t i = 0; i < keys.size(); ++i) {
    if (statuses[i].ok())
      values[i].emplace(found[i].data(), found[i].size());
    else if (statuses[i].IsNotFound())
      values[i].reset();
    else
      return base::fail(damage_->read_error(*database_, statuses[i], keys[i]));
  }
  return {};
}

class RocksStore::Moment final : public Snapshot {
 public:
  explicit Moment(const RocksStore& store)
      : store_(store), ticket_(store.purge_->readers.enter()), options_(store.read_options_) {
    options_.snapshot = store.database_->GetSnapshot();
  }
  ~Moment() override {
    store_.database_->ReleaseSnapshot(options_.snapshot);
    store_.purge_->readers.leave(ticket_);
  }
  base::Result<bool> get(BytesView key, Bytes& value) const override {
    return store_.read(options_, key, value);
  }
  std::unique_ptr<Iterator> iterate(BytesView begin, BytesView end) const override {
    return make_iterator(*store_.database_, options_, begin, end, store_.damage_.get());
  }

 private:
  const RocksStore& store_;
  const uint64_t ticket_;
  ::rocksdb::ReadOptions options_;
};

std::shared_ptr<const Snapshot> RocksStore::snapshot() const {
  return std::make_shared<Moment>(*this);
}

// While it recovers from an error RocksDB reports a flush as done that is yet to come, so what counts is what
// the listener heard of.
base::Status RocksStore::flush() {
  constexpr auto patience = std::chrono::seconds(5);
  const auto deadline = std::chrono::steady_clock::now() + patience;
  const uint64_t wanted = database_->GetLatestSequenceNumber();
  for (;;) {
    auto status = database_->Flush({});
    if (!status.ok() && database_->Resume().ok()) status = database_->Flush({});
    if (!status.ok()) return base::fail(error_of(status, base::ErrorCode::server));
    using Properties = ::rocksdb::DB::Properties;
    if (listener_->flushed() >= wanted ||
        property(Properties::kNumEntriesActiveMemTable) + property(Properties::kNumEntriesImmMemTables) == 0)
      return {};
    if (std::chrono::steady_clock::now() > deadline)
      return base::fail(base::ErrorCode::server,
                        "The store failed: its tables could not be written to files");
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

base::Status RocksStore::compact(BytesView begin, BytesView end) {
  ::rocksdb::CompactRangeOptions options;
  options.bottommost_level_compaction = ::rocksdb::BottommostLevelCompaction::kForce;
  options.exclusive_manual_compaction = false;
  const Slice first = slice_of(begin);
  const Slice last = slice_of(end);
  // The first pass merges fragments into whole records, and what it merges it does not show to the purger;
  // the second one does.
  for (int pass = 0; pass < 2; ++pass) {
    const auto status =
        database_->CompactRange(options, begin.empty() ? nullptr : &first, end.empty() ? nullptr : &last);
    if (status.IsManualCompactionPaused())
      return base::fail(base::ErrorCode::server, "The compaction was stopped: the server is stopping");
    if (!status.ok()) return base::fail(error_of(status, base::ErrorCode::server));
  }
  return {};
}

// Tables are written to files in the order of their write batches, and a batch is never in two tables: so
// what is in files is all that was acknowledged up to some moment, and after a flush that moment is not
// before it.
base::Result<std::vector<CheckpointFile>> RocksStore::checkpoint(const std::string& directory) {
  SIBYL_TRY(flush());
  return make_checkpoint(*database_, directory);
}

uint64_t RocksStore::approximate_size(BytesView begin, BytesView end) const {
  static const Bytes beyond(64, '\xff');
  const ::rocksdb::Range range(slice_of(begin), slice_of(end.empty() ? BytesView(beyond) : end));
  ::rocksdb::SizeApproximationOptions options;
  options.include_memtables = true;
  options.include_files = true;
  uint64_t size = 0;
  if (!database_->GetApproximateSizes(options, database_->DefaultColumnFamily(), &range, 1, &size).ok())
    return 0;
  return size;
}

uint64_t RocksStore::property(const std::string& name) const {
  uint64_t value = 0;
  return database_->GetIntProperty(name, &value) ? value : 0;
}

StoreStatistics RocksStore::statistics() const {
  using Properties = ::rocksdb::DB::Properties;
  StoreStatistics statistics;
  statistics.bytes_on_disk = property(Properties::kTotalSstFilesSize) + log_->bytes();
  statistics.bytes_in_memory = property(Properties::kSizeAllMemTables) +
                               property(Properties::kEstimateTableReadersMem) + cache_->GetUsage();
  statistics.commit_groups = committer_->groups();
  statistics.commits = committer_->commits();
  statistics.damage_met = damage_->count();
  statistics.commits_refused = committer_->refused();
  statistics.group_commits = committer_->group_sizes();
  statistics.sync_micros = sync_micros_.snapshot();
  statistics.log_bytes = log_->bytes();
  statistics.memtable_bytes = property(Properties::kCurSizeAllMemTables);
  statistics.cache_capacity_bytes = cache_->GetCapacity();
  statistics.cache_bytes = cache_->GetUsage();
  statistics.cache_hits = counters_->getTickerCount(::rocksdb::BLOCK_CACHE_HIT);
  statistics.cache_misses = counters_->getTickerCount(::rocksdb::BLOCK_CACHE_MISS);
  statistics.running_flushes = property(Properties::kNumRunningFlushes);
  statistics.running_compactions = property(Properties::kNumRunningCompactions);
  statistics.pending_compaction_bytes = property(Properties::kEstimatePendingCompactionBytes);
  statistics.files = files().size();
  listener_->fill(statistics);
  return statistics;
}

std::vector<StoreFile> RocksStore::files() const {
  std::vector<::rocksdb::LiveFileMetaData> live;
  database_->GetLiveFilesMetaData(&live);
  std::vector<StoreFile> files;
  for (::rocksdb::LiveFileMetaData& one : live)
    files.push_back({one.name.substr(one.name.rfind('/') + 1), std::move(one.smallestkey),
                     std::move(one.largestkey), one.size});
  return files;
}

std::map<uint32_t, uint64_t> RocksStore::largest_partitions() const {
  ::rocksdb::TablePropertiesCollection files;
  LargestPartitions largest;
  if (!database_->GetPropertiesOfAllTables(&files).ok()) return largest;
  for (const auto& [name, properties] : files)
    add_largest_partitions(properties->user_collected_properties, largest);
  return largest;
}

std::vector<StoreTask> RocksStore::tasks() const {
  std::vector<StoreTask> tasks = listener_->tasks();
  if (tasks.empty()) return tasks;
  std::map<std::string, StoreFile> known;
  for (StoreFile& file : files()) known[file.name] = std::move(file);
  for (StoreTask& task : tasks)
    for (StoreFile& input : task.inputs)
      if (const auto found = known.find(input.name); found != known.end()) input = found->second;
  return tasks;
}

}  // namespace

base::Result<std::unique_ptr<Store>> open_store(const std::string& path, const Options& options) {
  return RocksStore::open(path, options);
}

void stop_compacting(Store& store) {
  if (auto* const rocks = dynamic_cast<RocksStore*>(&store)) rocks->stop_compacting();
}

}  // namespace sibyl::storage::rocksdb
