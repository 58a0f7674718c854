#include "storage/rocksdb/recovery/salvage.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <rocksdb/write_batch.h>
#include <sys/file.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <map>
#include <memory>
#include <queue>

#include "base/file.h"
#include "storage/rocksdb/recovery/log_scan.h"
#include "storage/rocksdb/recovery/manifest_guard.h"
#include "storage/rocksdb/recovery/manifest_reader.h"
#include "storage/rocksdb/recovery/table_scan.h"
#include "storage/rocksdb/rocksdb_store.h"

namespace sibyl::storage::rocksdb {
namespace {

namespace fs = std::filesystem;
using base::Bytes;

constexpr size_t commit_bytes = 1 << 20;

// Commits in batches. The operations of one record stay together and in order.
class Writer {
 public:
  explicit Writer(Store& store) : store_(store) {}
  WriteSet& writes() { return writes_; }
  base::Status commit_if_large() { return writes_.byte_size() < commit_bytes ? base::Status() : commit(); }
  base::Status commit() {
    WriteSet writes = std::move(writes_);
    writes_ = {};
    return writes.empty() ? base::Status() : store_.commit(std::move(writes));
  }

 private:
  Store& store_;
  WriteSet writes_;
};

// --- Choosing the table files that belong to the store.

// table files by number, as the MANIFEST describes them
using TableFiles = std::map<uint64_t, ManifestFile>;

bool is_listed_exactly(const std::vector<ManifestEntry>& entries, const std::map<uint64_t, uint64_t>& there) {
  return std::any_of(entries.begin(), entries.end(), [&](const ManifestEntry& entry) {
    return entry.size > 0 && entry.files == there.size() && entry.files_crc == files_crc(there);
  });
}

// Returns the files listed by the MANIFEST if it can be trusted, otherwise all files in the directory.
TableFiles choose_files(const std::string& data, Salvaged& salvaged) {
  const std::string records = data + "/records";
  const std::map<uint64_t, uint64_t> there = table_files_in(records);
  ManifestGuard guard(data);
  (void)guard.check();  // reads the record
  ManifestReader reader;
  const std::optional<uint64_t> current = current_manifest(records);
  if (const auto bytes = base::read_file(records + "/" + manifest_name(current.value_or(0))))
    reader.add(*bytes);
  std::map<uint64_t, uint64_t> listed_sizes;
  for (const auto& [number, file] : reader.files()) listed_sizes[number] = file.size;
  // A store of an older version has no record. In such a store, a MANIFEST that lists exactly the existing
  // files is complete.
  const bool lists_all = guard.entries().empty() && listed_sizes == there;
  const bool is_trusted = reader.is_whole() && (guard.manifest_is_intact() || lists_all);
  if (is_trusted) return reader.files();
  TableFiles chosen;
  for (const auto& [number, size] : there) {
    const auto listed = reader.files().find(number);
    chosen[number] = listed != reader.files().end() ? listed->second : ManifestFile{number, size};
  }
  if (!is_listed_exactly(guard.entries(), there))
    salvaged.doubts.push_back(
        fmt::format("the MANIFEST is damaged, and it is not known which of the {} data files belonged to the "
                    "store: a file may be missing, and rows that were deleted long ago may have reappeared",
                    there.size()));
  return chosen;
}

// --- Merging table files in key order.

struct Source {
  std::string name;
  ManifestFile listed;
  std::unique_ptr<TableScan> scan;
};

struct LaterFirst {
  // std::priority_queue has the largest element on top, so the order is reversed
  bool operator()(const Source* left, const Source* right) const {
    const TableEntry &a = left->scan->entry(), &b = right->scan->entry();
    return a.key != b.key ? a.key > b.key : a.sequence < b.sequence;
  }
};

std::vector<Source> open_tables(const std::string& data, const TableFiles& chosen, Salvaged& salvaged) {
  std::vector<Source> sources;
  for (const auto& [number, listed] : chosen) {
    const std::string name = table_file_name(number);
    auto scan = TableScan::open(data + "/records/" + name);
    if (!scan) {
      salvaged.losses.push_back({name, scan.error().message(), listed.first_key, listed.last_key});
      continue;
    }
    sources.push_back({name, listed, std::move(*scan)});
  }
  return sources;
}

class Merger {
 public:
  Merger(std::vector<Source>& sources, Writer& writer, Salvaged& salvaged)
      : writer_(writer), salvaged_(salvaged) {
    for (Source& source : sources) {
      for (const TableEntry& range : source.scan->range_deletions()) ranges_.push_back(range);
      if (source.scan->next()) queue_.push(&source);
    }
  }

  base::Status run() {
    while (!queue_.empty()) {
      take_record();
      write_record();
      SIBYL_TRY(writer_.commit_if_large());
    }
    return writer_.commit();
  }

 private:
  // Takes all entries of the next key, newest first.
  void take_record() {
    record_.clear();
    do {
      Source* const source = queue_.top();
      queue_.pop();
      record_.push_back(source->scan->entry());
      if (source->scan->next()) queue_.push(source);
    } while (!queue_.empty() && queue_.top()->scan->entry().key == record_.front().key);
  }

  bool is_erased(const TableEntry& entry) const {
    return std::any_of(ranges_.begin(), ranges_.end(), [&](const TableEntry& range) {
      return range.sequence > entry.sequence && range.key <= entry.key && entry.key < range.value;
    });
  }

  // Writes the entries from the newest value on, or, after a deletion, from the first fragment on.
  void write_record() {
    size_t begin = 0;
    while (begin < record_.size() && record_[begin].type == TableEntry::merge && !is_erased(record_[begin]))
      ++begin;
    const bool has_value = begin < record_.size() && record_[begin].type == TableEntry::value_of_key &&
                           !is_erased(record_[begin]);
    if (has_value) writer_.writes().put(record_[begin].key, record_[begin].value);
    for (size_t i = begin; i > 0; --i) writer_.writes().merge(record_[i - 1].key, record_[i - 1].value);
    if (has_value || begin > 0) ++salvaged_.records;
  }

  Writer& writer_;
  Salvaged& salvaged_;
  std::vector<TableEntry> ranges_;
  std::vector<TableEntry> record_;
  std::priority_queue<Source*, std::vector<Source*>, LaterFirst> queue_;
};

void report_tables(const std::vector<Source>& sources, Salvaged& salvaged) {
  for (const Source& source : sources) {
    ++salvaged.table_files;
    for (const DamagedPart& part : source.scan->damaged())
      salvaged.losses.push_back({source.name, fmt::format("{} bytes at byte {}", part.size, part.offset),
                                 part.after.empty() ? source.listed.first_key : part.after,
                                 part.before.empty() ? source.listed.last_key : part.before});
    if (source.scan->lost_range_deletions())
      salvaged.doubts.push_back(
          fmt::format("the end of {} is damaged: it may have contained erasures of whole tables, whose rows "
                      "use space again",
                      source.name));
  }
}

// --- The commit log.

class BatchReader final : public ::rocksdb::WriteBatch::Handler {
 public:
  explicit BatchReader(WriteSet& writes) : writes_(writes) {}
  ::rocksdb::Status PutCF(uint32_t, const ::rocksdb::Slice& key, const ::rocksdb::Slice& value) override {
    writes_.put(key.ToString(), value.ToString());
    return {};
  }
  ::rocksdb::Status MergeCF(uint32_t, const ::rocksdb::Slice& key, const ::rocksdb::Slice& value) override {
    writes_.merge(key.ToString(), value.ToString());
    return {};
  }
  ::rocksdb::Status DeleteCF(uint32_t, const ::rocksdb::Slice& key) override {
    writes_.erase(key.ToString());
    return {};
  }
  ::rocksdb::Status DeleteRangeCF(uint32_t, const ::rocksdb::Slice& begin,
                                  const ::rocksdb::Slice& end) override {
    writes_.erase_range(begin.ToString(), end.ToString());
    return {};
  }

 private:
  WriteSet& writes_;
};

base::Status replay_log(const std::string& data, Store& store, Salvaged& salvaged) {
  const auto scan = scan_log(data, [&](base::BytesView group) -> base::Status {
    WriteSet writes;
    BatchReader reader(writes);
    const ::rocksdb::WriteBatch batch{Bytes(group)};
    if (!batch.Iterate(&reader).ok())
      return base::fail(base::ErrorCode::server, "A group of the commit log cannot be read");
    return writes.empty() ? base::Status() : store.commit(std::move(writes));
  });
  if (!scan) return base::fail(scan.error());
  salvaged.log_segments = scan->segments;
  salvaged.log_groups = scan->groups;
  salvaged.log_losses = scan->damaged;
  if (!scan->damaged.empty())
    salvaged.doubts.push_back(
        "writes to any table may have been in the lost parts of the commit log; definitions of tables may be "
        "older than they were");
  return {};
}

base::Status fill(const std::string& data, const std::string& to, Salvaged& salvaged) {
  const TableFiles chosen = choose_files(data, salvaged);
  std::vector<Source> sources = open_tables(data, chosen, salvaged);
  SIBYL_ASSIGN(const std::unique_ptr<Store> store, open_store(to));
  Writer writer(*store);
  SIBYL_TRY(Merger(sources, writer, salvaged).run());
  report_tables(sources, salvaged);
  SIBYL_TRY(replay_log(data, *store, salvaged));
  return store->flush();
}

base::Status check_directories(const std::string& data, const std::string& to) {
  std::error_code error;
  if (!fs::is_directory(data + "/records", error))
    return base::fail(base::Error(base::ErrorCode::invalid, fmt::format("There is no store in {}", data))
                          .with_hint("Name the directory that the server was given with --data."));
  if (fs::exists(to, error) && !(fs::is_directory(to, error) && fs::is_empty(to, error)))
    return base::fail(base::Error(base::ErrorCode::invalid, fmt::format("{} is not empty", to))
                          .with_hint("use a new directory: nothing is recovered into existing data"));
  return {};
}

}  // namespace

base::Result<Salvaged> salvage(const std::string& data, const std::string& to) {
  SIBYL_TRY(check_directories(data, to));
  const base::File lock(data + "/SIBYL_FORMAT", O_RDONLY);  // may be missing
  if (lock && ::flock(lock.number(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
    return base::fail(base::Error(base::ErrorCode::invalid, fmt::format("Another process has {} open", data))
                          .with_hint("stop the server first"));
  std::error_code ignored;
  const bool was_there = fs::exists(to, ignored);
  Salvaged salvaged;
  if (const base::Status filled = fill(data, to, salvaged); !filled) {
    if (!was_there)
      fs::remove_all(to, ignored);
    else
      for (const auto& entry : fs::directory_iterator(to, ignored)) fs::remove_all(entry.path(), ignored);
    return base::fail(filled.error());
  }
  return salvaged;
}

}  // namespace sibyl::storage::rocksdb
