#include "storage/rocksdb/partition_samples.h"

#include <rocksdb/db.h>
#include <rocksdb/metadata.h>
#include <rocksdb/write_batch.h>

#include <algorithm>
#include <unordered_set>

#include "row/record_key.h"
#include "storage/rocksdb/reading.h"

namespace sibyl::storage::rocksdb {
namespace {

constexpr const char* samples_property = "sibyl.partition_samples";
constexpr char format_version = 1;
constexpr size_t table_id_size = 4;
constexpr size_t token_end = 12;

// The token's bytes of a record key, or `otherwise` for a key that is too short.
uint64_t token_of(BytesView key, uint64_t otherwise) {
  if (key.size() < token_end) return otherwise;
  return base::read_big_endian<uint64_t>(key.substr(table_id_size));
}

// A range of a table's records that was erased. `first` and `last` are its first and last token, as in the
// keys of records: an unsigned number that sorts like the token.
struct Erasure {
  uint32_t table = 0;
  uint64_t first = 0, last = UINT64_MAX;
  uint64_t sequence = 0;
};

// Returns false if the range is not within one table. RocksDB may have split the range anywhere.
bool parse_erasure(BytesView begin, BytesView end, Erasure& erasure) {
  if (begin.size() < table_id_size || end.size() < table_id_size) return false;
  erasure.table = base::read_big_endian<uint32_t>(begin);
  erasure.first = token_of(begin, 0);
  const auto end_table = base::read_big_endian<uint32_t>(end);
  if (end_table == erasure.table) {
    const uint64_t token = token_of(end, 0);
    if (token == 0) return false;
    erasure.last = token - 1;
    return true;
  }
  erasure.last = UINT64_MAX;
  return end_table == erasure.table + 1 && end.size() == table_id_size;
}

class SampleCollector final : public ::rocksdb::TablePropertiesCollector {
 public:
  ::rocksdb::Status AddUserKey(const ::rocksdb::Slice& key, const ::rocksdb::Slice& value,
                               ::rocksdb::EntryType type, ::rocksdb::SequenceNumber sequence,
                               uint64_t) override {
    if (type == ::rocksdb::kEntryRangeDeletion) {
      Erasure erasure;
      if (parse_erasure(view_of(key), view_of(value), erasure)) {
        erasure.sequence = sequence;
        erasures_.push_back(erasure);
      }
      return ::rocksdb::Status::OK();
    }
    if ((type != ::rocksdb::kEntryPut && type != ::rocksdb::kEntryMerge) || key.size() < token_end)
      return ::rocksdb::Status::OK();
    counter_.add(view_of(key), value.size());
    Span& span = span_of(base::read_big_endian<uint32_t>(view_of(key)));
    span.last = token_of(view_of(key), 0);
    if (span.is_new) span.first = span.last;
    span.is_new = false;
    span.newest = std::max<uint64_t>(span.newest, sequence);
    return ::rocksdb::Status::OK();
  }
  ::rocksdb::Status Finish(::rocksdb::UserCollectedProperties* properties) override {
    counter_.finish();
    Bytes encoded(1, format_version);
    base::append_varint(encoded, erasures_.size());
    for (const Erasure& erasure : erasures_) {
      base::append_big_endian(encoded, erasure.table);
      base::append_big_endian(encoded, erasure.first);
      base::append_big_endian(encoded, erasure.last);
      base::append_varint(encoded, erasure.sequence);
    }
    base::append_varint(encoded, counter_.samples().size());
    for (const auto& [table, sample] : counter_.samples()) {
      const Span& span = spans_[table];
      base::append_big_endian(encoded, table);
      base::append_varint(encoded, span.newest);
      base::append_big_endian(encoded, span.first);
      base::append_big_endian(encoded, span.last);
      sample.append_to(encoded);
    }
    properties->emplace(samples_property, std::move(encoded));
    return ::rocksdb::Status::OK();
  }
  ::rocksdb::UserCollectedProperties GetReadableProperties() const override { return {}; }
  const char* Name() const override { return "sibyl.PartitionSamples"; }

 private:
  struct Span {
    uint64_t newest = 0, first = 0, last = 0;
    bool is_new = true;
  };
  Span& span_of(uint32_t table) {
    if (recent_ == nullptr || recent_table_ != table) {
      recent_ = &spans_[table];
      recent_table_ = table;
    }
    return *recent_;
  }

  PartitionCounter counter_;
  std::map<uint32_t, Span> spans_;
  Span* recent_ = nullptr;
  uint32_t recent_table_ = 0;
  std::vector<Erasure> erasures_;
};

class SampleCollectorFactory final : public ::rocksdb::TablePropertiesCollectorFactory {
 public:
  ::rocksdb::TablePropertiesCollector* CreateTablePropertiesCollector(Context) override {
    return new SampleCollector();
  }
  const char* Name() const override { return "sibyl.PartitionSamples"; }
};

// An erased range of keys [begin, end), clipped to its file.
struct ErasedKeys {
  Bytes begin, end;
  uint64_t sequence = 0;
};

// The records of a table in one file, within [begin, end).
struct Piece {
  uint64_t newest = 0;  // sequence number of the newest record; 0 if no older record is below
  Bytes begin, end;
  PartitionSample sample;
};

// The samples and erasures of all files.
struct Pieces {
  std::map<uint32_t, std::vector<ErasedKeys>> erasures;
  std::map<uint32_t, std::vector<Piece>> tables;

  // An erasure may be split over several adjacent files. REQUIRES: the erasures are sorted.
  bool is_erased(uint32_t table, const Piece& piece) const {
    const auto found = erasures.find(table);
    if (found == erasures.end()) return false;
    const Bytes* next = &piece.begin;  // begin of the part that is not covered yet
    for (const ErasedKeys& erased : found->second) {
      if (erased.sequence <= piece.newest || erased.end <= *next) continue;
      if (erased.begin > *next) return false;
      next = &erased.end;
      if (*next >= piece.end) return true;
    }
    return false;
  }
};

Bytes token_key(uint32_t table, uint64_t token) {
  Bytes key = row::table_begin(table);
  base::append_big_endian(key, token);
  return key;
}

// Returns the end of a table's records whose tokens are at most this one.
Bytes end_of(uint32_t table, uint64_t token) {
  return token == UINT64_MAX ? row::table_end(table) : token_key(table, token + 1);
}

// A compaction writes an erasure completely into each of its output files, but it is only valid between the
// first and last key of the file. Elsewhere the erasure may already be applied, and newer records may exist
// whose sequence numbers were zeroed.
void add_erasure(const Erasure& erasure, const ::rocksdb::LiveFileMetaData& file, Pieces& pieces) {
  ErasedKeys keys{token_key(erasure.table, erasure.first), end_of(erasure.table, erasure.last),
                  erasure.sequence};
  keys.begin = std::max<Bytes>(keys.begin, file.smallestkey);
  keys.end = std::min<Bytes>(keys.end, file.largestkey);
  if (keys.begin < keys.end) pieces.erasures[erasure.table].push_back(std::move(keys));
}

bool read_erasure(base::Reader& in, Erasure& erasure) {
  return in.big_endian(erasure.table) && in.big_endian(erasure.first) && in.big_endian(erasure.last) &&
         in.varint(erasure.sequence);
}

// Files without samples, or with samples of another version, are unknown until they are compacted.
void read_file(BytesView encoded, const ::rocksdb::LiveFileMetaData& file,
               const std::unordered_set<uint32_t>& wanted, Pieces& pieces) {
  if (encoded.empty() || encoded.front() != format_version) return;
  base::Reader in(encoded.substr(1));
  uint64_t count = 0;
  if (!in.varint(count)) return;
  for (uint64_t i = 0; i < count; ++i) {
    Erasure erasure;
    if (!read_erasure(in, erasure)) return;
    if (wanted.contains(erasure.table)) add_erasure(erasure, file, pieces);
  }
  if (!in.varint(count)) return;
  for (uint64_t i = 0; i < count; ++i) {
    uint32_t table = 0;
    Piece piece;
    uint64_t first = 0, last = 0;
    if (!in.big_endian(table) || !in.varint(piece.newest) || !in.big_endian(first) || !in.big_endian(last) ||
        !piece.sample.read_from(in))
      return;
    if (!wanted.contains(table)) continue;
    piece.begin = std::max<Bytes>(token_key(table, first), file.smallestkey);
    piece.end = std::min<Bytes>(end_of(table, last), file.largestkey + '\0');
    pieces.tables[table].push_back(std::move(piece));
  }
}

// files by the names that RocksDB uses for their properties
std::map<std::string, ::rocksdb::LiveFileMetaData> files_of(::rocksdb::DB& database) {
  std::vector<::rocksdb::LiveFileMetaData> live;
  database.GetLiveFilesMetaData(&live);
  std::map<std::string, ::rocksdb::LiveFileMetaData> files;
  for (::rocksdb::LiveFileMetaData& file : live) {
    std::string name = file.db_path + file.name;
    files.emplace(std::move(name), std::move(file));
  }
  return files;
}

Pieces read_files(::rocksdb::DB& database, const std::unordered_set<uint32_t>& wanted) {
  Pieces pieces;
  ::rocksdb::TablePropertiesCollection properties;
  if (!database.GetPropertiesOfAllTables(&properties).ok()) return pieces;
  const std::map<std::string, ::rocksdb::LiveFileMetaData> files = files_of(database);
  // Stands for a file that was deleted meanwhile; its first and last key are unknown.
  ::rocksdb::LiveFileMetaData gone;
  gone.largestkey.assign(64, '\xff');
  for (const auto& [name, of_file] : properties) {
    const auto found = of_file->user_collected_properties.find(samples_property);
    const auto file = files.find(name);
    if (found != of_file->user_collected_properties.end())
      read_file(found->second, file != files.end() ? file->second : gone, wanted, pieces);
  }
  for (auto& [table, erasures] : pieces.erasures)
    std::sort(erasures.begin(), erasures.end(),
              [](const ErasedKeys& a, const ErasedKeys& b) { return a.begin < b.begin; });
  return pieces;
}

// An estimate.
uint64_t records_in_memory(::rocksdb::DB& database, BytesView begin, BytesView end) {
  const ::rocksdb::Range range({begin.data(), begin.size()}, {end.data(), end.size()});
  uint64_t count = 0, size = 0;
  database.GetApproximateMemTableStats(range, &count, &size);
  return count;
}

}  // namespace

std::shared_ptr<::rocksdb::TablePropertiesCollectorFactory> make_partition_samples() {
  return std::make_shared<SampleCollectorFactory>();
}

void ErasedTables::add(BytesView begin, BytesView end, uint64_t after) {
  Erasure erasure;
  if (!parse_erasure(begin, end, erasure) || erasure.first != 0 || erasure.last != UINT64_MAX) return;
  const std::lock_guard lock(mutex_);
  tables_[erasure.table] = after;
}

void ErasedTables::add(const ::rocksdb::WriteBatch& batch, uint64_t after) {
  struct Handler final : ::rocksdb::WriteBatch::Handler {
    Handler(ErasedTables& erased_tables, uint64_t sequence) : tables(erased_tables), after(sequence) {}
    using Status = ::rocksdb::Status;
    using Slice = ::rocksdb::Slice;
    Status PutCF(uint32_t, const Slice&, const Slice&) override { return Status::OK(); }
    Status DeleteCF(uint32_t, const Slice&) override { return Status::OK(); }
    Status MergeCF(uint32_t, const Slice&, const Slice&) override { return Status::OK(); }
    Status DeleteRangeCF(uint32_t, const Slice& begin, const Slice& end) override {
      tables.add(view_of(begin), view_of(end), after);
      return Status::OK();
    }
    ErasedTables& tables;
    const uint64_t after;
  };
  if (!batch.HasDeleteRange()) return;
  Handler handler(*this, after);
  batch.Iterate(&handler).PermitUncheckedError();
}

std::set<uint32_t> ErasedTables::only_in_memory(uint64_t flushed) {
  const std::lock_guard lock(mutex_);
  std::erase_if(tables_, [flushed](const auto& entry) { return entry.second < flushed; });
  std::set<uint32_t> tables;
  for (const auto& [table, after] : tables_) tables.insert(table);
  return tables;
}

std::map<uint32_t, uint64_t> tables_erased_in(const ::rocksdb::UserCollectedProperties& properties) {
  std::map<uint32_t, uint64_t> tables;
  const auto found = properties.find(samples_property);
  if (found == properties.end()) return tables;
  const BytesView encoded = found->second;
  if (encoded.empty() || encoded.front() != format_version) return tables;
  base::Reader in(encoded.substr(1));
  uint64_t count = 0;
  if (!in.varint(count)) return tables;
  Erasure erasure;
  for (uint64_t i = 0; i < count && read_erasure(in, erasure); ++i) {
    if (erasure.first != 0 || erasure.last != UINT64_MAX) continue;
    uint64_t& sequence = tables[erasure.table];
    sequence = std::max(sequence, erasure.sequence);
  }
  return tables;
}

std::map<uint32_t, PartitionSample> partition_samples(::rocksdb::DB& database,
                                                      const std::set<uint32_t>& erased,
                                                      std::span<const uint32_t> tables, size_t max_records,
                                                      const TokenSpan& tokens) {
  ::rocksdb::ReadOptions in_memory;
  in_memory.read_tier = ::rocksdb::kMemtableTier;
  std::map<uint32_t, PartitionSample> samples;
  for (const uint32_t table : tables) {
    PartitionSample& all =
        samples.try_emplace(table, PartitionSample(PartitionSample::listed_in_all)).first->second;
    const Bytes begin = row::table_begin(table), end = row::table_end(table);
    const auto records = make_iterator(database, in_memory, begin, end);
    all.merge(scan_partitions(
        *records, table, max_records,
        [&](BytesView key) {
          const uint64_t before = records_in_memory(database, begin, key);
          const uint64_t total = records_in_memory(database, begin, end);
          return before == 0 || before >= total ? 1.0
                                                : static_cast<double>(before) / static_cast<double>(total);
        },
        tokens));
  }
  // Files are read after the memory tables. So records flushed in between count twice, not zero times.
  const Pieces pieces = read_files(database, {tables.begin(), tables.end()});
  for (const auto& [table, found] : pieces.tables) {
    if (erased.contains(table)) continue;
    for (const Piece& piece : found)
      if (!pieces.is_erased(table, piece)) samples.at(table).merge(piece.sample);
  }
  return samples;
}

}  // namespace sibyl::storage::rocksdb
