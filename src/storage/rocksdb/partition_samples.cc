#include "storage/rocksdb/partition_samples.h"

#include <rocksdb/db.h>

#include <algorithm>
#include <unordered_set>

#include "row/record_key.h"
#include "storage/rocksdb/merging.h"

namespace sibyl::storage::rocksdb {
namespace {

constexpr const char* property_name = "sibyl.partition_samples";
constexpr char format_version = 1;
constexpr size_t table_id_size = 4;
constexpr size_t token_end = 12;

BytesView view_of(const ::rocksdb::Slice& slice) {
  return {slice.data(), slice.size()};
}

// The token's bytes of a record key, or `otherwise` of a key that ends before them.
uint64_t token_of(BytesView key, uint64_t otherwise) {
  if (key.size() < token_end) return otherwise;
  return base::read_big_endian<uint64_t>(key.substr(table_id_size));
}

// Records of a table that were erased at once, by the bytes of their tokens; both ends included.
struct Erasure {
  uint32_t table = 0;
  uint64_t first = 0, last = UINT64_MAX;
  uint64_t sequence = 0;
};

// False when it is of no single table. RocksDB may have cut it anywhere.
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

// What a file has of a table.
struct Piece {
  uint64_t newest = 0;  // sequence number
  uint64_t first = 0, last = 0;
  PartitionSample sample;

  bool is_covered_by(const Erasure& erasure) const {
    return erasure.sequence > newest && erasure.first <= first && last <= erasure.last;
  }
};

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
    properties->emplace(property_name, std::move(encoded));
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

// What all files say.
struct Pieces {
  std::vector<Erasure> erasures;
  std::map<uint32_t, std::vector<Piece>> tables;
};

// Of a file that tells nothing, or of another version, nothing is known until it is compacted.
void read_file(BytesView encoded, const std::unordered_set<uint32_t>& wanted, Pieces& pieces) {
  if (encoded.empty() || encoded.front() != format_version) return;
  base::Reader in(encoded.substr(1));
  uint64_t count = 0;
  if (!in.varint(count)) return;
  for (uint64_t i = 0; i < count; ++i) {
    Erasure erasure;
    if (!in.big_endian(erasure.table) || !in.big_endian(erasure.first) || !in.big_endian(erasure.last) ||
        !in.varint(erasure.sequence))
      return;
    pieces.erasures.push_back(erasure);
  }
  if (!in.varint(count)) return;
  for (uint64_t i = 0; i < count; ++i) {
    uint32_t table = 0;
    Piece piece;
    if (!in.big_endian(table) || !in.varint(piece.newest) || !in.big_endian(piece.first) ||
        !in.big_endian(piece.last) || !piece.sample.read_from(in))
      return;
    if (wanted.contains(table)) pieces.tables[table].push_back(std::move(piece));
  }
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

uint64_t ErasedTables::erased_after(uint32_t table) const {
  const std::lock_guard lock(mutex_);
  const auto found = tables_.find(table);
  return found == tables_.end() ? 0 : found->second;
}

std::map<uint32_t, PartitionSample> partition_samples(::rocksdb::DB& database, const ErasedTables& erased,
                                                      std::span<const uint32_t> tables, size_t most_records) {
  ::rocksdb::ReadOptions in_memory;
  in_memory.read_tier = ::rocksdb::kMemtableTier;
  std::map<uint32_t, PartitionSample> samples;
  for (const uint32_t table : tables) {
    PartitionSample& all =
        samples.try_emplace(table, PartitionSample(PartitionSample::listed_in_all)).first->second;
    const Bytes begin = row::table_begin(table), end = row::table_end(table);
    const auto records = make_iterator(database, in_memory, begin, end);
    all.merge(scan_partitions(*records, table, most_records));
  }
  // After the memory tables: what is flushed between counts twice rather than never.
  ::rocksdb::TablePropertiesCollection files;
  if (!database.GetPropertiesOfAllTables(&files).ok()) return samples;
  Pieces pieces;
  const std::unordered_set<uint32_t> wanted(tables.begin(), tables.end());
  for (const auto& [name, properties] : files) {
    const auto found = properties->user_collected_properties.find(property_name);
    if (found != properties->user_collected_properties.end()) read_file(found->second, wanted, pieces);
  }
  for (const auto& [table, found] : pieces.tables) {
    const Erasure in_memory_erasure{table, 0, UINT64_MAX, erased.erased_after(table) + 1};
    const auto is_erased = [&](const Piece& piece) {
      if (in_memory_erasure.sequence > 1 && piece.is_covered_by(in_memory_erasure)) return true;
      return std::any_of(pieces.erasures.begin(), pieces.erasures.end(),
                         [&](const Erasure& one) { return one.table == table && piece.is_covered_by(one); });
    };
    for (const Piece& piece : found)
      if (!is_erased(piece)) samples.at(table).merge(piece.sample);
  }
  return samples;
}

}  // namespace sibyl::storage::rocksdb
