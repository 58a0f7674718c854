#include "storage/rocksdb/shared/open_sharded_store.h"

#include <fmt/format.h>
#include <pthread.h>
#include <rocksdb/file_system.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <atomic>
#include <future>
#include <map>
#include <thread>
#include <utility>

#include "base/contain.h"
#include "base/histogram.h"
#include "base/mutex.h"
#include "storage/partition_sample.h"
#include "storage/rocksdb/committer.h"
#include "storage/rocksdb/reading.h"
#include "storage/rocksdb/shared/object_file_system.h"
#include "storage/rocksdb/shared/object_log.h"
#include "storage/rocksdb/shared/open_shards.h"
#include "storage/rocksdb/shared/server_log.h"
#include "storage/rocksdb/shared/server_resources.h"
#include "storage/rocksdb/shared/shard_commits.h"
#include "storage/rocksdb/shared/shards_checkpoint.h"
#include "storage/shard_iterators.h"

namespace sibyl::storage::rocksdb {
namespace {

using namespace std::chrono_literals;

// How long iterators may delay the closing of a shard.
constexpr auto closing_patience = 2s;

// Logs of former servers, each read once for all shards that need it at the same time.
class FormerLogs {
 public:
  FormerLogs(objects::ObjectStore& store, std::chrono::milliseconds patience)
      : store_(store), patience_(patience) {}

  base::Result<std::shared_ptr<const DeadLog>> read(const std::string& name) {
    const base::MutexLock lock(mutex_);
    auto& known = logs_[name];
    if (auto log = known.lock()) return log;
    SIBYL_ASSIGN(DeadLog log, seal_and_read(store_, name, patience_));
    auto shared = std::make_shared<const DeadLog>(std::move(log));
    known = shared;
    std::erase_if(logs_, [](const auto& each) { return each.second.expired(); });
    return std::shared_ptr<const DeadLog>(shared);
  }

 private:
  objects::ObjectStore& store_;
  const std::chrono::milliseconds patience_;
  base::Mutex mutex_;  // locked while a log is read
  std::map<std::string, std::weak_ptr<const DeadLog>> logs_ SIBYL_GUARDED_BY(mutex_);
};

class Shards final : public ShardedStore {
 public:
  explicit Shards(ShardedStoreOptions options)
      : options_(std::move(options)),
        open_(options_.shards->count()),
        former_logs_(*options_.objects, options_.patience) {}
  ~Shards() override;
  base::Status start();

  // --- Shards
  base::Status open_shard(uint32_t shard, uint64_t epoch, const std::vector<FormerLog>& logs) override;
  base::Status flush_shard(uint32_t shard) override;
  base::Status close_shard(uint32_t shard) override;
  void drop_shard(uint32_t shard) override;
  std::unique_ptr<Use> use(uint32_t shard) override;
  std::optional<uint64_t> open_epoch(uint32_t shard) const override {
    const OpenShards::Use open = open_.find(shard, true);
    return open ? std::optional(open->epoch) : std::nullopt;
  }
  std::shared_ptr<const Snapshot> shard_snapshot(uint32_t shard) const override;
  uint64_t shard_size(uint32_t shard, BytesView begin, BytesView end) const override {
    const OpenShards::Use use = find(shard);
    return use ? use->store->approximate_size(begin, end) : 0;
  }
  base::Status compact_here(BytesView begin, BytesView end) override;
  base::Status compact_shard(uint32_t shard, BytesView begin, BytesView end) override;
  void stop_compacting() override;
  base::Status remove_former_log(const std::string& log) override {
    return remove_log(*options_.objects, log, options_.patience);
  }
  LogState log_state() const override { return {log_->name(), log_->bytes(), log_->needs().size()}; }
  std::optional<StoreStatistics> shard_statistics(uint32_t shard) const override;
  std::optional<std::map<uint32_t, PartitionSample>> shard_samples(uint32_t shard,
                                                                   std::span<const uint32_t> tables,
                                                                   size_t max_records) const override;

  // --- The store
  using Store::commit;
  void commit(WriteSet writes, Done done) override;
  base::Result<bool> get(BytesView key, Bytes& value) const override;
  base::Status get_many(std::span<const Bytes> keys, std::span<std::optional<Bytes>> values) const override;
  bool may_have_partition_records(uint32_t table_id) const override {
    return resources_.partition_records.may_have(table_id);
  }
  std::unique_ptr<Iterator> iterate(BytesView begin, BytesView end) const override;
  std::shared_ptr<const Snapshot> snapshot() const override;

  std::span<const EntryRun> entry_runs() const override { return options_.shards->entry_runs(); }
  void set_timestamps(Timestamps* timestamps) override;
  std::shared_ptr<const void> hold(BytesView key) const override;

  base::Status flush() override;
  base::Status compact(BytesView begin, BytesView end) override;
  void set_purge_policy(std::shared_ptr<const PurgePolicy> policy) override;
  void set_key_formatter(std::function<std::string(BytesView key)> format) override;
  void set_large_partition_callback(uint64_t bytes,
                                    std::function<void(BytesView key, uint64_t size)> callback) override;
  base::Result<std::vector<CheckpointFile>> checkpoint(const std::string&) override {
    return base::fail(base::ErrorCode::server, "Shards are copied by make_checkpoint()");
  }
  std::unique_ptr<Checkpoint> make_checkpoint() override {
    return std::make_unique<ShardsCheckpoint>(ShardsCheckpoint::Parts{
        .open = open_,
        .shards = options_.shards->count(),
        .objects = *options_.objects,
        .post_to_committer = [this](std::function<void()> task) { commits_->post(std::move(task)); },
        .patience = options_.patience});
  }

  uint64_t approximate_size(BytesView begin, BytesView end) const override;
  StoreStatistics statistics() const override;
  std::chrono::microseconds sync_time() const override { return commits_->sync_time(); }
  std::vector<StoreFile> files() const override;
  std::map<uint32_t, uint64_t> largest_partitions() const override;
  std::map<uint32_t, PartitionSample> partition_samples(std::span<const uint32_t> tables,
                                                        size_t max_records) const override;
  std::vector<StoreTask> tasks() const override;

 private:
  class ShardsSnapshot;
  class RequestUse;

  void make_resources();
  base::Result<std::unique_ptr<objects::ObjectDirectory>> open_directory(uint32_t shard, uint64_t epoch);
  base::Result<std::unique_ptr<WriteLog>> replay(const OpenShard& shard, const std::vector<FormerLog>& logs,
                                                 const WriteLog::Replay& replay, BytesView position);
  void apply_settings(Store& store);
  base::Status take_timestamp(Store& store);
  int64_t highest_timestamp() const;
  base::Status close(OpenShard& shard);
  void run_on_committer(const std::function<void()>& task);
  void lose(const std::string& why);
  void maintain();
  void flush_old_shards();
  void release_flushed();
  void destroy_unused();
  OpenShards::Use find(uint32_t shard) const { return open_.find(shard); }

  const ShardedStoreOptions options_;
  ServerResources resources_;
  mutable OpenShards open_;
  FormerLogs former_logs_;
  std::unique_ptr<ServerLog> log_;
  std::unique_ptr<ShardCommits> commits_;
  ShardVisibility visibility_;
  std::atomic<bool> is_lost_ = false, are_compactions_stopped_ = false;

  mutable base::Mutex settings_mutex_;
  std::shared_ptr<const PurgePolicy> policy_ SIBYL_GUARDED_BY(settings_mutex_);
  std::function<std::string(BytesView)> format_key_ SIBYL_GUARDED_BY(settings_mutex_);
  std::pair<uint64_t, std::function<void(BytesView, uint64_t)>> large_partitions_
      SIBYL_GUARDED_BY(settings_mutex_);
  mutable base::Mutex timestamps_mutex_;
  Timestamps* timestamps_ SIBYL_GUARDED_BY(timestamps_mutex_) = nullptr;
  // The highest timestamp of the opened shards, or the highest that the server had assigned when timestamps_
  // was reset.
  int64_t known_timestamp_ SIBYL_GUARDED_BY(timestamps_mutex_) = 0;

  base::Mutex maintenance_mutex_;
  base::CondVar wake_maintenance_;
  bool is_stopping_ SIBYL_GUARDED_BY(maintenance_mutex_) = false;
  std::thread maintenance_;
};

// --- Starting and stopping

void Shards::make_resources() {
  constexpr int shard_bits = 3;
  resources_.block_cache = make_block_cache(options_.store.block_cache_bytes, shard_bits);
  resources_.memory = std::make_shared<::rocksdb::WriteBufferManager>(options_.memory_tables_bytes);
  if (options_.store.row_cache_bytes > 0)
    resources_.row_cache =
        std::make_unique<RowCache>(options_.store.row_cache_bytes, resources_.partition_records);
  resources_.run_on_committer = [this](const std::function<void()>& task) { run_on_committer(task); };
}

base::Status Shards::start() {
  make_resources();
  ServerLog::Options log;
  log.store = options_.objects;
  log.name = options_.log;
  log.segment_bytes = options_.store.log_segment_bytes;
  log.patience = options_.patience;
  log.on_lost = [this](objects::Reply why) { lose(objects::to_string(why)); };
  log.highest_timestamp = [this] { return highest_timestamp(); };
  SIBYL_ASSIGN(log_, ServerLog::create(std::move(log)));
  commits_ = std::make_unique<ShardCommits>(
      ShardCommits::Parts{.shards = *options_.shards,
                          .open = open_,
                          .log = *log_,
                          .row_cache = resources_.row_cache.get(),
                          .visibility = visibility_,
                          .not_here = storage::not_here,
                          .request_flush = [this] { wake_maintenance_.notify_one(); },
                          .max_log_bytes = options_.max_log_bytes,
                          .queue_bytes = options_.store.queue_bytes});
  maintenance_ = std::thread([this] { maintain(); });
  pthread_setname_np(maintenance_.native_handle(), "sibyl-shards");
  return {};
}

Shards::~Shards() {
  if (maintenance_.joinable()) {
    {
      const base::MutexLock lock(maintenance_mutex_);
      is_stopping_ = true;
    }
    wake_maintenance_.notify_one();
    maintenance_.join();
  }
  if (commits_) commits_->stop();
  for (uint32_t number = 0; number < options_.shards->count(); ++number) {
    const auto shard = open_.retire(number);
    if (!shard) continue;
    const bool is_lost = is_lost_ || shard->directory->is_lost();
    if (shard->store && is_lost) shard->parts->abandon();
    shard->store.reset();
    if (!is_lost) (void)shard->directory->release();
  }
  destroy_unused();
}

void Shards::lose(const std::string& why) {
  if (is_lost_.exchange(true)) return;
  spdlog::critical("this server has lost its shards: {}", why);
  if (options_.on_lost) options_.on_lost(why);
}

void Shards::run_on_committer(const std::function<void()>& task) {
  std::promise<void> finished;
  commits_->post([&] {
    (void)base::contain(task);
    finished.set_value();
  });
  finished.get_future().wait();
}

// --- Opening and closing shards

base::Result<std::unique_ptr<objects::ObjectDirectory>> Shards::open_directory(uint32_t shard,
                                                                               uint64_t epoch) {
  objects::ObjectDirectory::Options directory;
  directory.store = options_.objects;
  directory.name = fmt::format("shard-{:08}", shard);
  directory.patience = options_.patience;
  directory.owner_epoch = epoch;
  directory.on_lost = [this, shard](objects::Reply why) {
    // If the shard was given up, losing its directory is expected.
    if (open_.is_open(shard)) lose(objects::to_string(why));
  };
  return objects::ObjectDirectory::open(std::move(directory));
}

base::Status Shards::open_shard(uint32_t shard, uint64_t epoch, const std::vector<FormerLog>& logs) {
  open_.wait_unused(shard);
  auto opened = std::make_shared<OpenShard>();
  opened->number = shard;
  opened->epoch = epoch;
  SIBYL_ASSIGN(opened->directory, open_directory(shard, epoch));
  (void)opened->directory->collect();
  opened->storage = std::make_shared<SharedStorage>();
  opened->storage->files = make_object_file_system(*opened->directory);
  opened->storage->server = &resources_;
  opened->storage->tokens = options_.shards->tokens_of(shard);
  opened->storage->open_log = [&](const WriteLog::Replay& apply, BytesView position) {
    return replay(*opened, logs, apply, position);
  };
  Options store = options_.store;
  store.durability = Durability::synced;
  store.environment = nullptr;
  store.shared = opened->storage;
  SIBYL_ASSIGN(opened->store, open_store({}, store));
  opened->storage->open_log = nullptr;
  opened->parts = ShardParts::of(*opened->store);
  apply_settings(*opened->store);
  SIBYL_TRY(take_timestamp(*opened->store));
  // Entries may be from an earlier opening of the shard.
  run_on_committer([this] {
    if (resources_.row_cache) resources_.row_cache->invalidate_all();
  });
  open_.add(std::move(opened));
  return {};
}

// Applies the groups of the shard in the logs of its former owners, in the order of their epochs, as far as
// the tables lack them.
base::Result<std::unique_ptr<WriteLog>> Shards::replay(const OpenShard& shard,
                                                       const std::vector<FormerLog>& logs,
                                                       const WriteLog::Replay& replay, BytesView position) {
  std::optional<LogPosition> known = parse_log_position(position);
  if (!position.empty() && !known)
    return base::fail(damaged_log(shard.directory->name(), "the position in the tables cannot be read"));
  WriteLog::Recovered recovered;
  for (const FormerLog& former : logs) {
    // A later owner has replayed and flushed this log.
    if (known && known->shard_epoch > former.epoch) continue;
    SIBYL_ASSIGN(const std::shared_ptr<const DeadLog> log, former_logs_.read(former.log));
    recovered.segments += log->segments;
    const auto groups = log->groups.find({shard.number, former.epoch});
    if (groups == log->groups.end()) continue;
    const bool has_position = known && known->log == former.log && known->shard_epoch == former.epoch;
    for (const DeadLog::Group& group : groups->second) {
      if (has_position && group.sequence <= known->sequence) continue;
      SIBYL_TRY(replay.group(group.bytes));
      ++recovered.groups;
      recovered.bytes += group.bytes.size();
    }
  }
  if (options_.on_replayed) options_.on_replayed(shard.number, recovered.groups);
  return log_->open_shard(shard.number, shard.epoch, recovered);
}

base::Status Shards::flush_shard(uint32_t shard) {
  const OpenShards::Use use = find(shard);
  if (!use) return base::fail(storage::not_here(shard));
  return use->store->flush();
}

base::Status Shards::close_shard(uint32_t shard) {
  const auto open = open_.at(shard);
  if (!open) return base::fail(storage::not_here(shard));
  open->is_closing = true;  // requests wait meanwhile
  if (open->parts != nullptr) open->parts->stop_compacting();
  open_.close(*open, closing_patience);
  run_on_committer([] {});  // afterwards, commits that were submitted before have been completed or refused
  SIBYL_TRY(close(*open));
  (void)open_.retire(shard);
  return {};
}

// The next owner does not need to fence this client if the directory was released.
base::Status Shards::close(OpenShard& shard) {
  if (shard.store) {
    SIBYL_TRY(shard.store->flush());
    run_on_committer([&shard] { shard.parts->writer().trim_log(); });
    shard.parts = nullptr;
    shard.store.reset();
  }
  if (shard.directory->is_lost())
    return base::fail(base::ErrorCode::server, "Another server has taken the shard over");
  if (const objects::Reply released = shard.directory->release(); !released.is_done())
    return base::fail(objects::error_of(released, "Cannot give up a shard"));
  return {};
}

void Shards::drop_shard(uint32_t shard) {
  if (const auto dropped = open_.retire(shard)) {
    dropped->is_closing = dropped->is_closed = true;
    dropped->directory->lose(objects::Reply::unknown(objects::Reason::fenced));
  }
  wake_maintenance_.notify_one();
}

class Shards::RequestUse final : public Use {
 public:
  explicit RequestUse(OpenShards::Use use) : use_(std::move(use)) {}

 private:
  const OpenShards::Use use_;
};

std::unique_ptr<ShardedStore::Use> Shards::use(uint32_t shard) {
  OpenShards::Use found = open_.find(shard, true);
  return found ? std::make_unique<RequestUse>(std::move(found)) : nullptr;
}

std::shared_ptr<const void> Shards::hold(BytesView key) const {
  OpenShards::Use found = open_.find(options_.shards->shard_of(key), true);
  return found ? std::make_shared<const RequestUse>(std::move(found)) : nullptr;
}

// --- Reading and writing

void Shards::commit(WriteSet writes, Done done) {
  // This leaves room for the position and the header of each shard.
  constexpr uint64_t max_bytes = max_log_group_bytes / 4 * 3;
  if (writes.empty()) return done({});
  if (writes.byte_size() > max_bytes) return done(base::fail(group_too_large()));
  commits_->submit(std::move(writes), std::move(done));
}

base::Result<bool> Shards::get(BytesView key, Bytes& value) const {
  const uint32_t shard = options_.shards->shard_of(key);
  const OpenShards::Use use = find(shard);
  if (!use) return base::fail(storage::not_here(shard));
  visibility_.wait();
  return use->store->get(key, value);
}

base::Status Shards::get_many(std::span<const Bytes> keys, std::span<std::optional<Bytes>> values) const {
  std::map<uint32_t, std::vector<size_t>> by_shard;
  for (size_t i = 0; i < keys.size(); ++i) by_shard[options_.shards->shard_of(keys[i])].push_back(i);
  if (by_shard.size() == 1) {
    const OpenShards::Use use = find(by_shard.begin()->first);
    if (!use) return base::fail(storage::not_here(by_shard.begin()->first));
    visibility_.wait();
    return use->store->get_many(keys, values);
  }
  const base::ReaderLock lock(visibility_.mutex());
  for (const auto& [shard, places] : by_shard) {
    const OpenShards::Use use = find(shard);
    if (!use) return base::fail(storage::not_here(shard));
    std::vector<Bytes> wanted;
    for (const size_t place : places) wanted.push_back(keys[place]);
    std::vector<std::optional<Bytes>> found(places.size());
    SIBYL_TRY(use->store->get_many(wanted, found));
    for (size_t i = 0; i < places.size(); ++i) values[places[i]] = std::move(found[i]);
  }
  return {};
}

// Snapshots of all shards that are open, as of one moment.
class Shards::ShardsSnapshot final : public Snapshot, public std::enable_shared_from_this<ShardsSnapshot> {
 public:
  struct Part {
    OpenShards::Use use;
    std::shared_ptr<const Snapshot> snapshot;  // destroyed before `use`
  };
  explicit ShardsSnapshot(const Shards& shards) : map_(shards.options_.shards) {}

  // REQUIRES: visibility_ is held if there are several shards.
  base::Status add(const Shards& shards, uint32_t shard) {
    OpenShards::Use use = shards.find(shard);
    if (!use) return base::fail(storage::not_here(shard));
    std::shared_ptr<const Snapshot> snapshot = use->store->snapshot();
    parts_.insert_or_assign(shard, Part{std::move(use), std::move(snapshot)});
    return {};
  }

  // Returns the snapshot of one part. It keeps all parts alive.
  std::shared_ptr<const Snapshot> only(uint32_t shard) const {
    return {shared_from_this(), parts_.at(shard).snapshot.get()};
  }

  base::Result<bool> get(BytesView key, Bytes& value) const override {
    const auto part = parts_.find(map_->shard_of(key));
    if (part == parts_.end()) return base::fail(storage::not_here(map_->shard_of(key)));
    return part->second.snapshot->get(key, value);
  }
  std::unique_ptr<Iterator> iterate(BytesView begin, BytesView end) const override {
    const ShardMap::Range range = map_->shards_of(begin, end);
    std::vector<ShardPart> parts;
    for (const uint32_t shard : range.shards) {
      const auto part = parts_.find(shard);
      if (part == parts_.end()) return failed_iterator(storage::not_here(shard));
      parts.push_back({shard, part->second.snapshot});
    }
    if (parts.size() == 1) return owning_iterator(parts[0].snapshot->iterate(begin, end), shared_from_this());
    return owning_iterator(iterate_parts(std::move(parts), range.is_in_order, *map_, begin, end),
                           shared_from_this());
  }

 private:
  const std::shared_ptr<const ShardMap> map_;
  std::map<uint32_t, Part> parts_;
};

std::shared_ptr<const Snapshot> Shards::snapshot() const {
  auto snapshot = std::make_shared<ShardsSnapshot>(*this);
  const base::ReaderLock lock(visibility_.mutex());
  // If a shard is not open, only reads of that shard fail.
  for (uint32_t shard = 0; shard < options_.shards->count(); ++shard) (void)snapshot->add(*this, shard);
  return snapshot;
}

std::shared_ptr<const Snapshot> Shards::shard_snapshot(uint32_t shard) const {
  auto snapshot = std::make_shared<ShardsSnapshot>(*this);
  visibility_.wait();
  if (!snapshot->add(*this, shard)) return nullptr;
  return snapshot->only(shard);
}

std::unique_ptr<Iterator> Shards::iterate(BytesView begin, BytesView end) const {
  const ShardMap::Range range = options_.shards->shards_of(begin, end);
  if (range.shards.size() == 1) {
    OpenShards::Use use = find(range.shards[0]);
    if (!use) return failed_iterator(storage::not_here(range.shards[0]));
    visibility_.wait();
    auto iterator = use->store->iterate(begin, end);
    return owning_iterator(std::move(iterator), std::make_shared<OpenShards::Use>(std::move(use)));
  }
  auto snapshot = std::make_shared<ShardsSnapshot>(*this);
  {
    const base::ReaderLock lock(visibility_.mutex());
    for (const uint32_t shard : range.shards)
      if (auto status = snapshot->add(*this, shard); !status) return failed_iterator(status.error());
  }
  return snapshot->iterate(begin, end);
}

// --- All shards

base::Status Shards::flush() {
  for (uint32_t shard = 0; shard < options_.shards->count(); ++shard)
    if (auto status = flush_shard(shard); !status && !storage::is_not_here(status.error())) return status;
  return {};
}

base::Status Shards::compact(BytesView begin, BytesView end) {
  for (const uint32_t number : options_.shards->shards_of(begin, end).shards) {
    const OpenShards::Use shard = find(number);
    if (!shard) return base::fail(storage::not_here(number));
    SIBYL_TRY(shard->store->compact(begin, end));
  }
  return {};
}

base::Status Shards::compact_here(BytesView begin, BytesView end) {
  for (uint32_t shard = 0; shard < options_.shards->count(); ++shard)
    if (auto status = compact_shard(shard, begin, end); !status && !storage::is_not_here(status.error()))
      return status;
  return {};
}

base::Status Shards::compact_shard(uint32_t shard, BytesView begin, BytesView end) {
  const OpenShards::Use use = open_.find(shard, true);
  if (!use) return base::fail(storage::not_here(shard));
  if (are_compactions_stopped_)
    return base::fail(base::ErrorCode::server, "The compaction was stopped: the server is stopping");
  base::Status status = use->store->compact(begin, end);
  if (!status && use->is_closing) return base::fail(storage::not_here(shard));
  return status;
}

void Shards::stop_compacting() {
  are_compactions_stopped_ = true;
  for (const OpenShards::Use& shard : open_.all()) shard->parts->stop_compacting();
}

void Shards::apply_settings(Store& store) {
  const base::MutexLock lock(settings_mutex_);
  if (policy_) store.set_purge_policy(policy_);
  if (format_key_) store.set_key_formatter(format_key_);
  if (large_partitions_.second)
    store.set_large_partition_callback(large_partitions_.first, large_partitions_.second);
}

void Shards::set_purge_policy(std::shared_ptr<const PurgePolicy> policy) {
  bool drops = false;
  {
    const base::MutexLock lock(settings_mutex_);
    if (policy_)
      for (const auto& [id, table] : policy_->tables) drops |= policy->is_dropped(id);
    policy_ = policy;
  }
  for (const OpenShards::Use& shard : open_.all()) {
    shard->store->set_purge_policy(policy);
    if (drops) shard->parts->reclaim_dropped();
  }
}

// Gives all later writes of this server to the shard higher timestamps than writes of former owners have.
base::Status Shards::take_timestamp(Store& store) {
  Bytes value;
  SIBYL_ASSIGN(const bool has_position, store.get(position_key, value));
  const std::optional<LogPosition> position = has_position ? parse_log_position(value) : std::nullopt;
  if (!position) return {};
  const base::MutexLock lock(timestamps_mutex_);
  known_timestamp_ = std::max(known_timestamp_, position->timestamp);
  if (timestamps_ != nullptr) timestamps_->start_above(known_timestamp_);
  return {};
}

int64_t Shards::highest_timestamp() const {
  const base::MutexLock lock(timestamps_mutex_);
  return timestamps_ != nullptr ? std::max(known_timestamp_, timestamps_->last()) : known_timestamp_;
}

void Shards::set_timestamps(Timestamps* timestamps) {
  const base::MutexLock lock(timestamps_mutex_);
  if (timestamps_ != nullptr) known_timestamp_ = std::max(known_timestamp_, timestamps_->last());
  timestamps_ = timestamps;
  if (timestamps_ != nullptr) timestamps_->start_above(known_timestamp_);
}

void Shards::set_key_formatter(std::function<std::string(BytesView key)> format) {
  {
    const base::MutexLock lock(settings_mutex_);
    format_key_ = format;
  }
  for (const OpenShards::Use& shard : open_.all()) shard->store->set_key_formatter(format);
}

void Shards::set_large_partition_callback(uint64_t bytes,
                                          std::function<void(BytesView key, uint64_t size)> callback) {
  {
    const base::MutexLock lock(settings_mutex_);
    large_partitions_ = {bytes, callback};
  }
  for (const OpenShards::Use& shard : open_.all())
    shard->store->set_large_partition_callback(bytes, callback);
}

uint64_t Shards::approximate_size(BytesView begin, BytesView end) const {
  uint64_t size = 0;
  for (const uint32_t number : options_.shards->shards_of(begin, end).shards)
    if (const OpenShards::Use shard = find(number)) size += shard->store->approximate_size(begin, end);
  return size;
}

namespace {

// Adds the figures of one shard, without caches and commits, which belong to the whole server.
void add_shard(const StoreStatistics& shard, StoreStatistics& sum) {
  sum.bytes_on_disk += shard.bytes_on_disk;
  sum.damage_met += shard.damage_met;
  sum.memtable_bytes += shard.memtable_bytes;
  sum.files += shard.files;
  sum.flushes += shard.flushes;
  sum.flush_bytes += shard.flush_bytes;
  sum.compactions += shard.compactions;
  sum.compaction_bytes_read += shard.compaction_bytes_read;
  sum.compaction_bytes_written += shard.compaction_bytes_written;
  sum.running_flushes += shard.running_flushes;
  sum.running_compactions += shard.running_compactions;
  sum.pending_compaction_bytes += shard.pending_compaction_bytes;
  sum.background_errors += shard.background_errors;
}

}  // namespace

std::optional<StoreStatistics> Shards::shard_statistics(uint32_t shard) const {
  const OpenShards::Use use = find(shard);
  return use ? std::optional(use->store->statistics()) : std::nullopt;
}

std::optional<std::map<uint32_t, PartitionSample>> Shards::shard_samples(uint32_t shard,
                                                                         std::span<const uint32_t> tables,
                                                                         size_t max_records) const {
  const OpenShards::Use use = find(shard);
  return use ? std::optional(use->store->partition_samples(tables, max_records)) : std::nullopt;
}

StoreStatistics Shards::statistics() const {
  StoreStatistics sum;
  for (const OpenShards::Use& shard : open_.all()) add_shard(shard->store->statistics(), sum);
  commits_->fill(sum);
  sum.log_bytes = log_->bytes();
  sum.bytes_on_disk += sum.log_bytes;
  sum.cache_capacity_bytes = resources_.block_cache->GetCapacity();
  sum.cache_bytes = resources_.block_cache->GetUsage();
  sum.cache_hits = resources_.block_cache->hits();
  sum.cache_misses = resources_.block_cache->misses();
  sum.bytes_in_memory = resources_.memory->memory_usage() + sum.cache_bytes;
  if (resources_.row_cache) {
    const RowCache::Statistics rows = resources_.row_cache->statistics();
    sum.row_cache_capacity_bytes = rows.capacity_bytes;
    sum.row_cache_bytes = rows.bytes;
    sum.row_cache_entries = rows.entries;
    sum.row_cache_hits = rows.hits;
    sum.row_cache_misses = rows.misses;
    sum.row_cache_evictions = rows.evictions;
    sum.bytes_in_memory += rows.bytes;
  }
  return sum;
}

std::vector<StoreFile> Shards::files() const {
  std::vector<StoreFile> files;
  for (const OpenShards::Use& shard : open_.all())
    for (StoreFile& file : shard->store->files()) {
      file.name = fmt::format("{}/{}", shard->number, file.name);
      files.push_back(std::move(file));
    }
  return files;
}

std::map<uint32_t, uint64_t> Shards::largest_partitions() const {
  std::map<uint32_t, uint64_t> largest;
  for (const OpenShards::Use& shard : open_.all())
    for (const auto& [table, bytes] : shard->store->largest_partitions())
      largest[table] = std::max(largest[table], bytes);
  return largest;
}

// Each partition is in one shard, so the samples of the shards add up.
std::map<uint32_t, PartitionSample> Shards::partition_samples(std::span<const uint32_t> tables,
                                                              size_t max_records) const {
  std::map<uint32_t, PartitionSample> samples;
  for (const OpenShards::Use& shard : open_.all())
    for (const auto& [table, sample] : shard->store->partition_samples(tables, max_records))
      samples.try_emplace(table, PartitionSample(PartitionSample::listed_in_all)).first->second.merge(sample);
  return samples;
}

std::vector<StoreTask> Shards::tasks() const {
  std::vector<StoreTask> tasks;
  for (const OpenShards::Use& shard : open_.all())
    for (StoreTask& task : shard->store->tasks()) {
      task.id += static_cast<uint64_t>(shard->number) << 32;
      tasks.push_back(std::move(task));
    }
  return tasks;
}

// --- Maintenance

void Shards::maintain() {
  constexpr auto pause = 100ms;
  constexpr auto round = 1s;
  auto next_round = std::chrono::steady_clock::now() + round;
  base::MutexLock lock(maintenance_mutex_);
  while (!is_stopping_) {
    (void)wake_maintenance_.wait_for(maintenance_mutex_, pause);
    if (is_stopping_) return;
    lock.unlock();
    (void)base::contain([&] {
      flush_old_shards();
      destroy_unused();
      if (std::chrono::steady_clock::now() >= next_round) {
        next_round = std::chrono::steady_clock::now() + round;
        for (const OpenShards::Use& shard : open_.all()) shard->parts->maintain();
        release_flushed();
      }
    });
    lock.lock();
  }
}

// The oldest group is flushed when half of the log's limit has been written, so that commits need not wait.
void Shards::flush_old_shards() {
  while (log_->bytes() > options_.max_log_bytes / 2) {
    const std::vector<ServerLog::Need> needs = log_->needs();
    if (needs.empty()) break;
    const OpenShards::Use shard = find(needs.front().shard);
    if (!shard || !shard->store->flush()) break;
    release_flushed();
    const std::vector<ServerLog::Need> now = log_->needs();
    // The shard is still the oldest, because it was written to meanwhile.
    if (!now.empty() && now.front() == needs.front()) break;
  }
  if (log_->bytes() > options_.max_log_bytes / 2) release_flushed();
}

void Shards::release_flushed() {
  run_on_committer([this] {
    for (const OpenShards::Use& shard : open_.all()) shard->parts->writer().trim_log();
    log_->release_unneeded();
  });
}

void Shards::destroy_unused() {
  for (const auto& shard : open_.take_unused()) {
    if (shard->store && shard->parts != nullptr) shard->parts->abandon();
    shard->store.reset();
  }
}

}  // namespace

base::Result<std::unique_ptr<ShardedStore>> open_sharded_store(ShardedStoreOptions options) {
  auto shards = std::make_unique<Shards>(std::move(options));
  SIBYL_TRY(shards->start());
  return std::unique_ptr<ShardedStore>(std::move(shards));
}

}  // namespace sibyl::storage::rocksdb
