#include "storage/rocksdb/space/reclaimer.h"

#include <rocksdb/convenience.h>
#include <spdlog/spdlog.h>

#include <algorithm>

#include "row/record_key.h"
#include "storage/rocksdb/merging.h"
#include "storage/rocksdb/partition_samples.h"
#include "storage/rocksdb/partition_sizes.h"
#include "storage/rocksdb/reading.h"

namespace sibyl::storage::rocksdb {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr size_t table_id_size = 4;
// Erasures in quick succession, such as those of a keyspace, are handled together.
constexpr milliseconds gathering_pause{500};
constexpr milliseconds retry_pause{2'000};
constexpr milliseconds compaction_patience{5'000};
// With more files than this, they are not opened to search for erasures.
constexpr size_t max_files_searched = 4'096;

// Returns the table whose records are all in [begin, end), if there is one.
std::optional<uint32_t> erased_table(BytesView begin, BytesView end) {
  if (begin.size() != table_id_size) return std::nullopt;
  const auto id = base::read_big_endian<uint32_t>(begin);
  if (end != row::table_end(id)) return std::nullopt;
  return id;
}

// Return the table ids of the first and the last record of a file. A key that consists only of an id is the
// end of an erasure.
uint32_t first_table(const ::rocksdb::LiveFileMetaData& file) {
  if (file.smallestkey.size() < table_id_size) return 0;
  return base::read_big_endian<uint32_t>(file.smallestkey);
}
uint32_t last_table(const ::rocksdb::LiveFileMetaData& file) {
  if (file.largestkey.size() < table_id_size) return 0;
  const auto id = base::read_big_endian<uint32_t>(file.largestkey);
  return file.largestkey.size() == table_id_size && id > 0 ? id - 1 : id;
}

// Adds the ids between `first` and `last` that belong to dropped tables, as ranges.
void add_dropped(const PurgePolicy& policy, uint32_t first, uint32_t last,
                 std::map<uint32_t, uint32_t>& ranges) {
  first = std::max(first, PurgePolicy::first_table_id);
  last = std::min(last, policy.next_table_id - 1);
  auto known = policy.tables.lower_bound(first);
  for (uint32_t id = first; id <= last;) {
    const uint32_t next = known == policy.tables.end() ? UINT32_MAX : known->first;
    if (next > id) {
      uint32_t& end = ranges[id];
      end = std::max(end, std::min(last, next - 1));
    }
    if (next >= last) return;
    id = next + 1;
    ++known;
  }
}

bool compact(::rocksdb::DB& database, BackgroundListener& background, uint32_t table) {
  const Bytes begin = row::table_begin(table), end = row::table_end(table);
  ::rocksdb::CompactRangeOptions options;
  options.exclusive_manual_compaction = false;
  const ::rocksdb::Slice first = slice_of(begin), last = slice_of(end);
  return background.compact(database, options, &first, &last).ok();
}

}  // namespace

void Reclaimer::add(const ::rocksdb::WriteBatch& batch, uint64_t last_file) {
  struct Handler final : ::rocksdb::WriteBatch::Handler {
    using Status = ::rocksdb::Status;
    using Slice = ::rocksdb::Slice;
    Status PutCF(uint32_t, const Slice&, const Slice&) override { return Status::OK(); }
    Status DeleteCF(uint32_t, const Slice&) override { return Status::OK(); }
    Status MergeCF(uint32_t, const Slice&, const Slice&) override { return Status::OK(); }
    Status DeleteRangeCF(uint32_t, const Slice& begin, const Slice& end) override {
      if (const auto id = erased_table(view_of(begin), view_of(end))) tables.push_back(*id);
      return Status::OK();
    }
    std::vector<uint32_t> tables;
  };
  Handler handler;
  batch.Iterate(&handler).PermitUncheckedError();
  if (handler.tables.empty()) return;
  const std::lock_guard lock(mutex_);
  for (const uint32_t id : handler.tables) pending_[id] = {last_file, {}};
  due_ = std::max(due_, steady_clock::now() + gathering_pause);
}

void Reclaimer::search_again() {
  const std::lock_guard lock(mutex_);
  must_search_ = true;
  due_ = std::max(due_, steady_clock::now() + gathering_pause);
}

bool Reclaimer::is_due(steady_clock::time_point now) const {
  const std::lock_guard lock(mutex_);
  return now >= due_ && (!pending_.empty() || (must_search_ && purge_.policy()));
}

// Returns due erasures. Combines those of adjacent ids, such as a table with its indexes or the tables of a
// keyspace.
std::vector<Reclaimer::Erasure> Reclaimer::take_pending(::rocksdb::DB& database) {
  std::map<uint32_t, Older> pending;
  const auto policy = purge_.policy();
  bool must_search = false;
  {
    const std::lock_guard lock(mutex_);
    pending.swap(pending_);
    must_search = must_search_ && policy;
    if (must_search) must_search_ = false;
  }
  std::vector<Erasure> erasures;
  for (auto& [id, older] : pending) {
    // Nothing is written to a dropped table, so all of its files are old.
    if (policy && policy->is_dropped(id)) older = {UINT64_MAX, {}};
    if (!erasures.empty() && erasures.back().last + 1 == id && erasures.back().older == older)
      erasures.back().last = id;
    else
      erasures.push_back({id, id, std::move(older)});
  }
  if (must_search) search(database, erasures);
  return erasures;
}

// Finds tables that were erased before the store was opened.
void Reclaimer::search(::rocksdb::DB& database, std::vector<Erasure>& erasures) const {
  // Files are read before the policy, because a table is in the policy before its records are written to
  // files.
  Files files;
  database.GetLiveFilesMetaData(&files);
  const auto policy = purge_.policy();
  std::map<uint32_t, uint32_t> dropped;
  for (const auto& file : files) add_dropped(*policy, first_table(file), last_table(file), dropped);
  for (const auto& [first, last] : dropped) erasures.push_back({first, last, {UINT64_MAX, {}}});
  ::rocksdb::TablePropertiesCollection properties;
  if (files.size() > max_files_searched || !database.GetPropertiesOfAllTables(&properties).ok()) return;
  // erasures in level 0 with their sequence numbers, and erasures below level 0
  std::map<uint32_t, uint64_t> upper, lower;
  for (const auto& file : files) {
    const auto found = properties.find(file.db_path + file.name);
    if (found == properties.end()) continue;
    for (const auto& [id, sequence] : tables_erased_in(found->second->user_collected_properties)) {
      uint64_t& newest = (file.level == 0 ? upper : lower)[id];
      newest = std::max(newest, sequence);
    }
  }
  for (const auto& [id, sequence] : upper) {
    Erasure erasure{id, id, {}};
    for (const auto& file : files)
      if (file.level > 0 || file.largest_seqno < sequence) erasure.older.files.insert(file.file_number);
    erasures.push_back(std::move(erasure));
  }
  for (const auto& [id, sequence] : lower)
    if (!upper.contains(id)) erasures.push_back({id, id, {}});
}

void Reclaimer::put_back(const std::vector<Erasure>& erasures, milliseconds pause) {
  const std::lock_guard lock(mutex_);
  for (const Erasure& erasure : erasures) {
    // Ranges of dropped tables may be wide. They are not remembered, but searched for again.
    if (erasure.older.last_file == UINT64_MAX) {
      must_search_ = true;
      continue;
    }
    for (uint32_t id = erasure.first; id <= erasure.last; ++id) pending_.try_emplace(id, erasure.older);
  }
  due_ = std::max(due_, steady_clock::now() + pause);
}

uint64_t Reclaimer::bytes_of(::rocksdb::DB& database, const Erasure& erasure, bool in_memory) {
  const Bytes begin = row::table_begin(erasure.first), end = row::table_end(erasure.last);
  const ::rocksdb::Range range(slice_of(begin), slice_of(end));
  ::rocksdb::SizeApproximationOptions options;
  options.include_memtables = in_memory;
  options.include_files = true;
  uint64_t bytes = 0;
  (void)database.GetApproximateSizes(options, database.DefaultColumnFamily(), &range, 1, &bytes);
  return bytes;
}

// RocksDB deletes every file below level 0 that lies within a range. Therefore each range spans only old
// files, and no newer file lies in it or can be added to it meanwhile.
void Reclaimer::remove_whole_files(::rocksdb::DB& database, const std::vector<Erasure>& erasures) {
  uint64_t last_file = UINT64_MAX;
  for (const Erasure& erasure : erasures)
    if (erasure.older != Older{}) last_file = std::min(last_file, erasure.older.last_file);
  const BackgroundListener::Pause pause(background_, last_file, compaction_patience);
  if (!pause.holds()) return;
  Files files;
  database.GetLiveFilesMetaData(&files);
  std::vector<const ::rocksdb::LiveFileMetaData*> removed;
  for (const Erasure& erasure : erasures) {
    const Bytes begin = row::table_begin(erasure.first), end = row::table_end(erasure.last);
    std::vector<const ::rocksdb::LiveFileMetaData*> older, newer;
    for (const auto& file : files) {
      if (file.level == 0 || file.smallestkey < begin || file.largestkey > end) continue;
      (is_older(file, erasure) ? older : newer).push_back(&file);
    }
    for (const auto* file : older) {
      const bool holds_newer = std::any_of(newer.begin(), newer.end(), [&](const auto* other) {
        return other->smallestkey >= file->smallestkey && other->largestkey <= file->largestkey;
      });
      if (!holds_newer) removed.push_back(file);
    }
  }
  if (removed.empty()) return;
  std::vector<::rocksdb::Slice> bounds;
  bounds.reserve(2 * removed.size());
  std::vector<::rocksdb::RangePtr> ranges;
  for (const auto* file : removed) {
    bounds.emplace_back(file->smallestkey);
    bounds.emplace_back(file->largestkey);
    ranges.emplace_back(&bounds[bounds.size() - 2], &bounds[bounds.size() - 1]);
  }
  const auto status = ::rocksdb::DeleteFilesInRanges(&database, database.DefaultColumnFamily(), ranges.data(),
                                                     ranges.size(), true);
  if (!status.ok()) spdlog::warn("files of erased tables could not be removed: {}", status.ToString());
}

bool Reclaimer::is_older(const ::rocksdb::LiveFileMetaData& file, const Erasure& erasure) const {
  return erasure.older.files.contains(file.file_number) ||
         background_.was_written_before(file.file_number, erasure.older.last_file);
}

// Returns true if no file holds records of the erased tables any more.
bool Reclaimer::rewrite_files(::rocksdb::DB& database, const std::vector<Erasure>& erasures) {
  Files files;
  database.GetLiveFilesMetaData(&files);
  ::rocksdb::TablePropertiesCollection properties;
  for (const Erasure& erasure : erasures) {
    const Bytes begin = row::table_begin(erasure.first), end = row::table_end(erasure.last);
    const ::rocksdb::Range range(slice_of(begin), slice_of(end));
    if (!database.GetPropertiesOfTablesInRange(database.DefaultColumnFamily(), &range, 1, &properties).ok())
      return false;
  }
  ::rocksdb::CompactionOptions options;
  options.compression = ::rocksdb::kDisableCompressionOption;  // uses the compression of the level
  bool is_done = true;
  for (const auto& file : files) {
    const auto found = properties.find(file.db_path + file.name);
    if (found == properties.end()) continue;
    LargestPartitions tables;
    add_largest_partitions(found->second->user_collected_properties, tables);
    ErasingCompactions::Tables erased;
    for (const Erasure& erasure : erasures) {
      const auto held = tables.lower_bound(erasure.first);
      if (held != tables.end() && held->first <= erasure.last && is_older(file, erasure))
        erased.emplace_back(erasure.first, erasure.last);
    }
    if (erased.empty()) continue;
    options.output_file_size_limit = file.level == 0 ? UINT64_MAX : std::max<uint64_t>(file.size, 1);
    const ErasingCompactions erasing(std::move(erased));
    is_done = database.CompactFiles(options, {file.name}, file.level).ok() && is_done;
  }
  return is_done;
}

void Reclaimer::run(::rocksdb::DB& database, const Work& work, uint64_t min_bytes) {
  std::vector<Erasure> erasures = take_pending(database);
  std::erase_if(erasures, [&](const Erasure& one) { return bytes_of(database, one, true) < min_bytes; });
  if (erasures.empty()) return;
  if (!work.sync() || !purge_.readers.wait_for_earlier()) return put_back(erasures, retry_pause);
  remove_whole_files(database, erasures);
  const bool is_flushed = work.flush().has_value();
  const bool is_rewritten = rewrite_files(database, erasures);
  std::vector<Erasure> left;
  for (const Erasure& erasure : erasures) {
    const bool is_known = erasure.older != Older{};
    const bool is_done = is_known ? is_rewritten : compact(database, background_, erasure.first);
    if (!is_done || !is_flushed) left.push_back(erasure);
  }
  if (!left.empty()) put_back(left, retry_pause);
}

}  // namespace sibyl::storage::rocksdb
