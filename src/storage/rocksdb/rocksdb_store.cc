#include "storage/rocksdb/rocksdb_store.h"

#include <rocksdb/cache.h>
#include <rocksdb/db.h>
#include <rocksdb/env.h>
#include <rocksdb/thread_status.h>

#include <malloc.h>

#include <algorithm>
#include <array>
#include <functional>
#include <future>
#include <map>
#include <thread>

#include "base/check.h"
#include "base/contain.h"
#include "base/memory.h"
#include "storage/internals.h"
#include "storage/rocksdb/background_listener.h"
#include "storage/rocksdb/cache/counting_cache.h"
#include "storage/rocksdb/cache/large_blocks.h"
#include "storage/rocksdb/cache/large_records.h"
#include "storage/rocksdb/cache/memory_keeper.h"
#include "storage/rocksdb/cache/partition_record_tables.h"
#include "storage/rocksdb/cache/row_cache.h"
#include "storage/rocksdb/checkpoint.h"
#include "storage/rocksdb/commit_log.h"
#include "storage/rocksdb/committer.h"
#include "storage/rocksdb/damage.h"
#include "storage/rocksdb/database_options.h"
#include "storage/rocksdb/directory.h"
#include "storage/rocksdb/group_writer.h"
#include "storage/rocksdb/merging.h"
#include "storage/rocksdb/partition_samples.h"
#include "storage/rocksdb/partition_sizes.h"
#include "storage/rocksdb/reading.h"
#include "storage/rocksdb/recoverable_files.h"
#include "storage/rocksdb/recovery/manifest_guard.h"
#include "storage/rocksdb/shared/server_resources.h"
#include "storage/rocksdb/shared/shard_parts.h"
#include "storage/rocksdb/shared/shared_storage.h"
#include "storage/rocksdb/space/disk_space.h"
#include "storage/rocksdb/space/guarded_files.h"
#include "storage/rocksdb/space/purpose.h"
#include "storage/rocksdb/space/reclaimer.h"
#include "storage/rocksdb/space/space_keeper.h"

namespace sibyl::storage::rocksdb {
namespace {

using ::rocksdb::Slice;

// The space that RocksDB needs to open: for a MANIFEST, CURRENT and an options file.
constexpr uint64_t opening_bytes = 4 << 20;

// On a small file system, memory tables, files and log segments are small, so that neither a flush nor a
// compaction needs much space at once.
Options fit_to_file_system(Options options, uint64_t total_bytes) {
  constexpr uint64_t parts = 64, least = 1 << 20;
  const uint64_t max_bytes = std::max(least, total_bytes / parts);
  options.write_buffer_bytes = std::min(options.write_buffer_bytes, max_bytes);
  options.log_segment_bytes = std::min(options.log_segment_bytes, max_bytes);
  return options;
}

// A flush of the memory tables releases many segments at once, and a new segment costs more than a reused
// one. They must not fill a small file system.
size_t kept_segments(uint64_t total_bytes, uint64_t segment_bytes) {
  constexpr uint64_t parts = 64, least = 2, most = 8;
  return static_cast<size_t>(std::clamp(total_bytes / (parts * segment_bytes), least, most));
}

// On shared storage, an operation costs much more than its bytes. So files are large, and compactions read
// ahead.
void fit_to_shared_storage(::rocksdb::Options& database) {
  database.target_file_size_base = 64 << 20;
  database.max_bytes_for_level_base = std::max<uint64_t>(database.max_bytes_for_level_base, 256 << 20);
  database.compaction_readahead_size = 2 << 20;
  database.bytes_per_sync = 0;
}

class IgnoredManifests final : public ManifestObserver {
 public:
  void begun(uint64_t) override {}
  void appended(uint64_t, BytesView) override {}
  int synced(uint64_t) override { return 0; }
  int switching(uint64_t) override { return 0; }
  int switched(uint64_t) override { return 0; }
};

class RocksStore final : public Store, public Internals, public ShardParts {
 public:
  static base::Result<std::unique_ptr<Store>> open(const std::string& path, const Options& options);
  ~RocksStore() override;

  using Store::commit;
  void commit(WriteSet writes, Done done) override {
    if (writes.empty()) return done({});
    // A store without a committer is a shard: the owner of the shards commits.
    SIBYL_CHECK(committer_ != nullptr);
    if (keeper_->is_tight()) return commit_if_admitted(std::move(writes), std::move(done));
    committer_->submit(std::move(writes), std::move(done));
  }

  base::Result<bool> get(BytesView key, Bytes& value) const override;
  bool may_have_partition_records(uint32_t table_id) const override {
    return partition_records().may_have(table_id);
  }
  base::Status get_many(std::span<const Bytes> keys, std::span<std::optional<Bytes>> values) const override;
  std::unique_ptr<Iterator> iterate(BytesView begin, BytesView end) const override {
    return make_iterator(*database_, read_options_, visible(begin), end, damage_.get());
  }
  std::shared_ptr<const Snapshot> snapshot() const override;

  base::Status flush() override;
  base::Status compact(BytesView begin, BytesView end) override;
  void stop_compacting() override { database_->DisableManualCompaction(); }
  void set_purge_policy(std::shared_ptr<const PurgePolicy> policy) override {
    purge_->set_policy(std::move(policy));
  }

  base::Result<std::vector<CheckpointFile>> checkpoint(const std::string& directory) override;
  void set_key_formatter(std::function<std::string(BytesView)> name) override {
    damage_->set_key_formatter(std::move(name));
  }

  uint64_t approximate_size(BytesView begin, BytesView end) const override;
  StoreStatistics statistics() const override;
  std::chrono::microseconds sync_time() const override { return writer_->sync_time(); }
  std::vector<StoreFile> files() const override;
  std::map<uint32_t, uint64_t> largest_partitions() const override;
  std::map<uint32_t, PartitionSample> partition_samples(std::span<const uint32_t> tables,
                                                        size_t max_records) const override {
    const TokenSpan tokens = options_.shared != nullptr ? options_.shared->tokens : TokenSpan();
    return rocksdb::partition_samples(*database_, writer_->erased_in_memory(), tables, max_records, tokens);
  }
  void set_large_partition_callback(uint64_t bytes,
                                    std::function<void(BytesView, uint64_t)> callback) override {
    partition_watch_->set(bytes, std::move(callback));
  }
  std::vector<StoreTask> tasks() const override;
  bool is_shard() const { return server() != nullptr; }
  GroupWriter& writer() override { return *writer_; }
  base::Result<std::vector<HeldFile>> hold_files() override { return rocksdb::hold_files(*database_); }
  void release_files() override { rocksdb::release_files(*database_); }
  void maintain() override { keeper_->run_once(); }
  void reclaim_dropped() override { reclaimer_.search_again(); }
  void abandon() override {
    is_abandoned_ = true;
    database_->DisableManualCompaction();
    // Without this setting, closing would flush. The flush would fail, and RocksDB would then wait.
    database_->SetDBOptions({{"avoid_flush_during_shutdown", "true"}}).PermitUncheckedError();
  }
  uint64_t cache_entries() const override;
  std::map<uint64_t, uint64_t> task_bytes_read() const override;

 private:
  class StoreSnapshot;

  RocksStore(std::optional<Directory> directory, const Options& options)
      : directory_(std::move(directory)),
        space_(directory_ ? directory_->path() : std::string()),
        options_(fit_to_file_system(options, space_.total())) {}
  base::Status open_tables();
  base::Status open_files();
  ServerResources* server() const { return options_.shared != nullptr ? options_.shared->server : nullptr; }
  const PartitionRecordTables& partition_records() const {
    return server() != nullptr ? server()->partition_records : partition_records_;
  }
  PartitionRecordTables& partition_records() {
    return server() != nullptr ? server()->partition_records : partition_records_;
  }
  void make_caches();
  // Readers do not see the position of the log, which only shared storage needs.
  BytesView visible(BytesView begin) const {
    return options_.shared != nullptr && begin.empty() ? first_record_key : begin;
  }
  void make_keeper(::rocksdb::Options& database);
  base::Status open_log();
  void start_committer();
  void start_keeper();
  void resize_caches(uint32_t sixteenths);
  void commit_if_admitted(WriteSet writes, Done done);
  // Runs the task on the committer's thread and waits for it.
  void run_on_committer(const std::function<void()>& task);

  bool find_cached(std::span<const Bytes> keys, std::span<RowCache::Observation> observed,
                   std::span<std::optional<Bytes>> values) const;
  base::Status read_many(std::span<const Bytes> keys, std::span<std::optional<Bytes>> values) const;

  uint64_t property(const std::string& name) const;

  // Members are constructed in this order, and destroyed in reverse.
  const std::optional<Directory> directory_;  // nullopt on shared storage
  DiskSpace space_;
  const Options options_;
  base::SystemClock system_clock_;
  std::shared_ptr<PurgeContext> purge_ = std::make_shared<PurgeContext>();
  std::shared_ptr<DamageReport> damage_ = std::make_shared<DamageReport>();
  std::shared_ptr<BackgroundListener> listener_ = std::make_shared<BackgroundListener>(damage_);
  ::rocksdb::ReadOptions read_options_;
  std::unique_ptr<ManifestGuard> manifests_;  // for a local directory
  IgnoredManifests ignored_manifests_;        // for shared storage, which verifies what it stores
  Reclaimer reclaimer_{*listener_, *purge_};
  std::unique_ptr<SpaceKeeper> keeper_;
  std::unique_ptr<::rocksdb::Env> base_, recoverable_, environment_;
  std::unique_ptr<::rocksdb::DB> database_;
  std::shared_ptr<CountingCache> cache_;
  std::shared_ptr<PartitionWatch> partition_watch_ = std::make_shared<PartitionWatch>();
  PartitionRecordTables partition_records_;
  std::unique_ptr<RowCache> own_row_cache_;
  RowCache* row_cache_ = nullptr;         // nullptr: none
  std::thread table_lister_;              // fills partition_records_
  std::unique_ptr<GroupWriter> writer_;   // used only by the committer's thread, once that runs
  std::unique_ptr<Committer> committer_;  // nullptr: this is one of several shards, whose owner commits
  std::atomic<bool> is_abandoned_ = false;
  std::unique_ptr<MemoryKeeper> memory_keeper_;  // nullptr: the caches keep their sizes
};

base::Result<std::unique_ptr<Store>> RocksStore::open(const std::string& path, const Options& options) {
  std::optional<Directory> directory;
  if (options.shared == nullptr) {
    SIBYL_ASSIGN(directory, Directory::open(path));
  }
  std::unique_ptr<RocksStore> store(new RocksStore(std::move(directory), options));
  SIBYL_TRY(store->open_tables());
  SIBYL_TRY(store->open_log());
  store->start_committer();
  store->start_keeper();
  return store;
}

base::Status RocksStore::open_tables() {
  // This must be first, because RocksDB deletes files that its MANIFEST does not list.
  SIBYL_TRY(open_files());
  if (space_.free() < opening_bytes) space_.release_reserve();
  make_caches();
  ::rocksdb::Options database = database_options(
      options_, cache_, [context = purge_, known = std::make_shared<std::atomic<uint64_t>>(0)] {
        uint64_t bytes = 0;
        ::rocksdb::DB* const open = context->database();  // null while the store opens and closes
        if (open != nullptr && open->GetIntProperty(::rocksdb::DB::Properties::kTotalSstFilesSize, &bytes))
          *known = bytes;
        return known->load();
      });
  environment_ =
      make_guarded_environment(*recoverable_, {[this](uint64_t bytes) { return keeper_->may_compact(bytes); },
                                               [this](uint64_t bytes) { keeper_->make_room(bytes); },
                                               [blocks = large_blocks_of(cache_)](uint64_t bytes) {
                                                 const base::Status begun = blocks->begin_read(bytes);
                                                 if (!begun) refuse_read(begun.error());
                                                 return begun.has_value();
                                               }});
  database.env = environment_.get();
  if (options_.shared != nullptr) fit_to_shared_storage(database);
  make_keeper(database);
  purge_->clock = options_.clock != nullptr ? options_.clock : &system_clock_;
  // This is much longer than the interval, because a sync may fail and be retried.
  constexpr int64_t settling_seconds = 3600;
  if (options_.durability == Durability::periodic) purge_->settling_seconds = settling_seconds;
  database.compaction_filter_factory = make_purging_filter(purge_);
  database.listeners = {listener_};
  if (server() != nullptr) database.write_buffer_manager = server()->memory;
  database.table_properties_collector_factories.push_back(make_partition_sizes(partition_watch_));
  database.table_properties_collector_factories.push_back(make_partition_samples());
  database.table_properties_collector_factories.push_back(make_record_reservations(*large_blocks_of(cache_)));
  ::rocksdb::DB* opened = nullptr;
  const auto status =
      ::rocksdb::DB::Open(database, directory_ ? directory_->records_path() : object_path, &opened);
  if (!status.ok()) return base::fail(error_of(status, base::ErrorCode::server));
  database_.reset(opened);
  for (const StoreFile& file : files()) listener_->set_last_file(table_file_number(file.name));
  purge_->set_database(opened);
  return {};
}

void RocksStore::make_caches() {
  if (server() != nullptr) {
    cache_ = server()->block_cache;
    row_cache_ = server()->row_cache.get();
    return;
  }
  constexpr uint64_t large_cache = 1 << 30;
  // With more shards, small shards would evict blocks that are in use.
  const int shard_bits = options_.block_cache_bytes < large_cache ? 3 : 5;
  cache_ = make_block_cache(options_.block_cache_bytes, shard_bits);
  if (options_.row_cache_bytes > 0)
    own_row_cache_ = std::make_unique<RowCache>(options_.row_cache_bytes, partition_records_);
  row_cache_ = own_row_cache_.get();
}

// Sets recoverable_, through which RocksDB reaches its files.
base::Status RocksStore::open_files() {
  ::rocksdb::Env* base = options_.environment != nullptr ? options_.environment : ::rocksdb::Env::Default();
  if (options_.shared != nullptr) {
    base_ = ::rocksdb::NewCompositeEnv(options_.shared->files);
    recoverable_ = make_recoverable_environment(*base_, ignored_manifests_);
    return {};
  }
  manifests_ = std::make_unique<ManifestGuard>(
      directory_->path(), options_.manifest_disk != nullptr ? *options_.manifest_disk : Disk::real());
  SIBYL_TRY(manifests_->check());
  recoverable_ = make_recoverable_environment(*base, *manifests_);
  return {};
}

// There may not be enough space to flush the log's contents while the log still exists. Then the log is
// replayed into one large memory table.
void RocksStore::make_keeper(::rocksdb::Options& database) {
  const uint64_t log_bytes = directory_ ? directory_->log_bytes() : 0;
  const bool is_full = space_.available() / 2 < space_.reserve_bytes() + log_bytes;
  // Blocks must fit into a memory table of the usual size. RocksDB ends the process if one block is larger
  // than an empty memory table may be.
  database.arena_block_size = std::min<size_t>(1 << 20, database.write_buffer_size / 8);
  if (is_full) database.write_buffer_size = options_.write_buffer_bytes + 4 * log_bytes;
  keeper_ = std::make_unique<SpaceKeeper>(
      space_, *listener_, reclaimer_,
      SpaceKeeper::Options{.write_buffer_bytes = options_.write_buffer_bytes,
                           .log_segment_bytes = options_.log_segment_bytes,
                           .queue_bytes = options_.queue_bytes,
                           .automatic_compaction = options_.automatic_compaction,
                           .has_replay_buffer = is_full});
  // Compactions are off until the keeper has found enough space for them.
  if (keeper_->is_tight()) database.disable_auto_compactions = true;
}

base::Status RocksStore::open_log() {
  CommitLog::Options options;
  OpenLog open = [&options](const WriteLog::Replay& replay, BytesView) {
    return CommitLog::open(std::move(options), replay);
  };
  if (options_.shared != nullptr) {
    open = options_.shared->open_log;
  } else {
    options.space = &space_;
    options.directory = directory_->log_path();
    options.mark = directory_->log_mark_path();
    options.segment_bytes = options_.log_segment_bytes;
    options.kept_segments = kept_segments(space_.total(), options_.log_segment_bytes);
    if (options_.log_disk != nullptr) options.disk = options_.log_disk;
  }
  SIBYL_ASSIGN(writer_, GroupWriter::open(open,
                                          {*database_, *listener_, *damage_, reclaimer_, partition_records(),
                                           own_row_cache_.get()},
                                          options_.durability == Durability::synced));
  if (options_.shared != nullptr) {
    SIBYL_TRY(flush());
    SIBYL_TRY(writer_->begin_log());
  }
  if (server() != nullptr) {
    server()->partition_records.load_shard(*database_);
    return {};
  }
  table_lister_ =
      std::thread([this] { (void)base::contain([this] { partition_records_.load(*database_); }); });
  return {};
}

void RocksStore::start_committer() {
  if (server() != nullptr) return;
  Committer::Work work;
  work.write = [this](std::span<Committer::Request> group) { return writer_->write(group); };
  work.queue_bytes = options_.queue_bytes;
  if (options_.durability == Durability::periodic) {
    work.interval = options_.sync_interval;
    work.pause = [this] {
      const bool synced = writer_->sync().has_value();
      writer_->note_synced();
      return synced;
    };
  }
  committer_ = std::make_unique<Committer>(std::move(work));
}

void RocksStore::start_keeper() {
  Reclaimer::Work work;
  work.sync = [this] {
    base::Status status;
    run_on_committer([&] { status = writer_->sync(); });
    return status;
  };
  work.flush = [this] {
    const base::Status status = flush();
    run_on_committer([this] { writer_->trim_log(); });
    return status;
  };
  if (server() != nullptr)
    keeper_->attach(*database_, std::move(work));
  else
    keeper_->start(*database_, std::move(work));
  if (options_.gives_back_memory && server() == nullptr)
    memory_keeper_ = std::make_unique<MemoryKeeper>(
        [this](uint32_t sixteenths) { resize_caches(sixteenths); }, [] { return base::machine_memory(); });
}

void RocksStore::resize_caches(uint32_t sixteenths) {
  constexpr uint64_t min_block_cache = 8 << 20;
  const uint64_t blocks = options_.block_cache_bytes / all_sixteenths * sixteenths;
  const bool shrinks = blocks < cache_->GetCapacity();
  cache_->SetCapacity(std::max(blocks, std::min(min_block_cache, options_.block_cache_bytes)));
  if (row_cache_) row_cache_->set_capacity(options_.row_cache_bytes / all_sixteenths * sixteenths);
  if (shrinks) ::malloc_trim(0);
}

void RocksStore::run_on_committer(const std::function<void()>& task) {
  if (server() != nullptr) return server()->run_on_committer(task);
  std::promise<void> finished;
  writer_->post([&] {
    (void)base::contain(task);
    finished.set_value();
  });
  committer_->submit({}, [](const base::Status&) {});
  finished.get_future().wait();
}

void RocksStore::commit_if_admitted(WriteSet writes, Done done) {
  const uint64_t bytes = writes.byte_size();
  if (base::Status admitted = keeper_->admit(purpose_of(writes), bytes); !admitted)
    return done(std::move(admitted));
  committer_->submit(std::move(writes), [this, bytes, done = std::move(done)](base::Status status) mutable {
    keeper_->finish(bytes);
    done(std::move(status));
  });
}

RocksStore::~RocksStore() {
  memory_keeper_.reset();
  if (keeper_) keeper_->stop();
  if (table_lister_.joinable()) table_lister_.join();
  committer_.reset();
  purge_->set_database(nullptr);
  if (writer_ && writer_->is_broken()) {
    (void)database_.release();
    return;
  }
  if (writer_ && !is_abandoned_ && flush()) writer_->release_log();
  writer_.reset();
  if (database_) (void)database_->Close();
}

base::Result<bool> RocksStore::get(BytesView key, Bytes& value) const {
  if (!row_cache_) return read_record(*database_, read_options_, key, value, *damage_);
  const RowCache::Observation observed = row_cache_->observe(key);
  const RowCache::Found found = row_cache_->find(key, observed, value);
  if (found != RowCache::Found::unknown && row_cache_->is_unchanged(observed))
    return found == RowCache::Found::present;
  SIBYL_ASSIGN(const bool exists, read_record(*database_, read_options_, key, value, *damage_));
  row_cache_->fill_one(key, observed, exists ? std::optional(BytesView(value)) : std::nullopt);
  return exists;
}

base::Status RocksStore::get_many(std::span<const Bytes> keys, std::span<std::optional<Bytes>> values) const {
  constexpr size_t max_cached = 128;
  if (!row_cache_ || keys.size() > max_cached) return read_many(keys, values);
  std::array<RowCache::Observation, max_cached> all;
  const std::span observed(all.data(), keys.size());
  if (find_cached(keys, observed, values)) return {};
  SIBYL_TRY(read_many(keys, values));
  row_cache_->fill_all(keys, observed, values);
  return {};
}

// Returns false if not all of the records are cached as of one moment. All keys are observed in any case.
bool RocksStore::find_cached(std::span<const Bytes> keys, std::span<RowCache::Observation> observed,
                             std::span<std::optional<Bytes>> values) const {
  for (size_t i = 0; i < keys.size(); ++i) observed[i] = row_cache_->observe(keys[i]);
  for (size_t i = 0; i < keys.size(); ++i) {
    if (!values[i]) values[i].emplace();
    const RowCache::Found found = row_cache_->find(keys[i], observed[i], *values[i]);
    if (found == RowCache::Found::unknown) return false;
    if (found == RowCache::Found::absent) values[i].reset();
  }
  return std::ranges::all_of(observed, [this](const auto& each) { return row_cache_->is_unchanged(each); });
}

base::Status RocksStore::read_many(std::span<const Bytes> keys,
                                   std::span<std::optional<Bytes>> values) const {
  std::vector<Slice> slices(keys.begin(), keys.end());
  std::vector<::rocksdb::PinnableSlice> found(keys.size());
  std::vector<::rocksdb::Status> statuses(keys.size());
  {
    // RocksDB does not expect exceptions, so no allocation is refused.
    const base::UnlimitedMemory unlimited;
    database_->MultiGet(read_options_, database_->DefaultColumnFamily(), keys.size(), slices.data(),
                        found.data(), statuses.data());
  }
  for (size_t i = 0; i < keys.size(); ++i) {
    if (statuses[i].ok())
      values[i].emplace(found[i].data(), found[i].size());
    else if (statuses[i].IsNotFound())
      values[i].reset();
    else if (auto refused = take_refused_merge())
      return base::fail(*std::move(refused));
    else
      return base::fail(damage_->read_error(*database_, statuses[i], keys[i]));
  }
  return {};
}

class RocksStore::StoreSnapshot final : public Snapshot {
 public:
  explicit StoreSnapshot(const RocksStore& store)
      : store_(store), ticket_(store.purge_->readers.enter()), options_(store.read_options_) {
    options_.snapshot = store.database_->GetSnapshot();
  }
  ~StoreSnapshot() override {
    store_.database_->ReleaseSnapshot(options_.snapshot);
    store_.purge_->readers.leave(ticket_);
  }
  base::Result<bool> get(BytesView key, Bytes& value) const override {
    return read_record(*store_.database_, options_, key, value, *store_.damage_);
  }
  std::unique_ptr<Iterator> iterate(BytesView begin, BytesView end) const override {
    return make_iterator(*store_.database_, options_, store_.visible(begin), end, store_.damage_.get());
  }

 private:
  const RocksStore& store_;
  const uint64_t ticket_;
  ::rocksdb::ReadOptions options_;
};

std::shared_ptr<const Snapshot> RocksStore::snapshot() const {
  const base::UnlimitedMemory unlimited;  // RocksDB does not expect exceptions, so no allocation is refused.
  return std::make_shared<StoreSnapshot>(*this);
}

// While RocksDB recovers from an error, it reports a flush as done before it happened. Therefore only the
// listener's events are used.
base::Status RocksStore::flush() {
  constexpr auto patience = std::chrono::seconds(5);
  const auto deadline = std::chrono::steady_clock::now() + patience;
  const uint64_t wanted = database_->GetLatestSequenceNumber();
  ::rocksdb::FlushOptions options;
  options.allow_write_stall = true;  // without this, a flush waits for compactions, which may have no space
  for (;;) {
    auto status = listener_->flush(*database_, options);
    if (!status.ok() && listener_->resume(*database_).ok()) status = listener_->flush(*database_, options);
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
  // The first pass merges fragments into whole records, but does not pass the merged records to the purger.
  // The second does.
  for (int pass = 0; pass < 2; ++pass) {
    const auto status = listener_->compact(*database_, options, begin.empty() ? nullptr : &first,
                                           end.empty() ? nullptr : &last);
    if (status.IsManualCompactionPaused())
      return base::fail(base::ErrorCode::server, "The compaction was stopped: the server is stopping");
    if (!status.ok()) return base::fail(error_of(status, base::ErrorCode::server));
  }
  return {};
}

// Memory tables are flushed in the order of their write batches, and a batch is never split between two. The
// files therefore hold everything that was acknowledged up to some moment, which after a flush is not earlier
// than the flush.
base::Result<std::vector<CheckpointFile>> RocksStore::checkpoint(const std::string& directory) {
  if (options_.shared != nullptr)
    return base::fail(base::ErrorCode::server,
                      "Snapshots of a store on shared storage are not supported yet");
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
  statistics.bytes_on_disk = property(Properties::kTotalSstFilesSize) + writer_->log_bytes();
  statistics.bytes_in_memory = property(Properties::kSizeAllMemTables) +
                               property(Properties::kEstimateTableReadersMem) + cache_->GetUsage();
  statistics.damage_met = damage_->count();
  if (committer_ != nullptr) {
    statistics.commit_groups = committer_->groups();
    statistics.commits = committer_->commits();
    statistics.commits_refused = committer_->refused();
    statistics.group_commits = committer_->group_sizes();
  }
  statistics.sync_micros = writer_->sync_micros();
  statistics.log_bytes = writer_->log_bytes();
  statistics.memtable_bytes = property(Properties::kCurSizeAllMemTables);
  statistics.cache_capacity_bytes = cache_->GetCapacity();
  statistics.cache_bytes = cache_->GetUsage();
  statistics.cache_hits = cache_->hits();
  statistics.cache_misses = cache_->misses();
  if (row_cache_) {
    const RowCache::Statistics rows = row_cache_->statistics();
    statistics.row_cache_capacity_bytes = rows.capacity_bytes;
    statistics.row_cache_bytes = rows.bytes;
    statistics.row_cache_entries = rows.entries;
    statistics.row_cache_hits = rows.hits;
    statistics.row_cache_misses = rows.misses;
    statistics.row_cache_evictions = rows.evictions;
    statistics.bytes_in_memory += rows.bytes;
  }
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

// Counts the entries in batches. RocksDB 7.8 does not return their number: its function returns the bytes in
// use.
uint64_t RocksStore::cache_entries() const {
  uint64_t entries = 0;
  cache_->ApplyToAllEntries(
      [&entries](const Slice&, void*, size_t, ::rocksdb::Cache::DeleterFn) { ++entries; }, {});
  return entries;
}

// The threads of a RocksDB environment serve all databases of the process.
std::map<uint64_t, uint64_t> RocksStore::task_bytes_read() const {
  using ::rocksdb::ThreadStatus;
  std::map<uint64_t, uint64_t> read;
  std::vector<ThreadStatus> threads;
  if (!environment_->GetThreadList(&threads).ok()) return read;
  for (const ThreadStatus& thread : threads)
    if (thread.operation_type == ThreadStatus::OP_COMPACTION && thread.db_name == database_->GetName())
      read[thread.op_properties[ThreadStatus::COMPACTION_JOB_ID]] =
          thread.op_properties[ThreadStatus::COMPACTION_BYTES_READ];
  return read;
}

}  // namespace

ShardParts* ShardParts::of(Store& store) {
  auto* const rocks = dynamic_cast<RocksStore*>(&store);
  return rocks != nullptr && rocks->is_shard() ? rocks : nullptr;
}

base::Result<std::unique_ptr<Store>> open_store(const std::string& path, const Options& options) {
  return RocksStore::open(path, options);
}

void stop_compacting(Store& store) {
  if (auto* const rocks = dynamic_cast<RocksStore*>(&store)) rocks->stop_compacting();
}

}  // namespace sibyl::storage::rocksdb
