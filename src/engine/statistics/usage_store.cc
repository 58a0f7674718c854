#include "engine/statistics/usage_store.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <set>
#include <unordered_set>
#include <utility>

#include "base/contain.h"
#include "base/mutex.h"
#include "row/record_key.h"
#include "schema/storage_ids.h"

namespace sibyl::engine {
namespace {

using base::Bytes;
using base::BytesView;

constexpr auto interval = std::chrono::seconds(60);
constexpr char format_version = 1;

// Record kinds: the first byte of a record's key.
constexpr char header_record = 'h', shape_record = 's', table_record = 't';

Bytes record_key(char record) {
  return Bytes(1, record);
}
Bytes shape_key(uint64_t id) {
  Bytes key = record_key(shape_record);
  base::append_big_endian(key, id);
  return key;
}
Bytes table_key(uint32_t id) {
  Bytes key = record_key(table_record);
  base::append_big_endian(key, id);
  return key;
}

Bytes encode(const TableCounts& counts) {
  Bytes out(1, format_version);
  base::append_varint(out, counts.reads);
  base::append_varint(out, counts.writes);
  base::append_signed_varint(out, counts.since_micros);
  counts.tombstones_per_read.append_to(out);
  counts.partitions_read.append_to(out);
  counts.partitions_written.append_to(out);
  return out;
}

bool decode(BytesView bytes, TableCounts& counts) {
  if (bytes.empty() || bytes.front() != format_version) return false;
  base::Reader in(bytes.substr(1));
  return in.varint(counts.reads) && in.varint(counts.writes) && in.signed_varint(counts.since_micros) &&
         counts.tombstones_per_read.read_from(in) && counts.partitions_read.read_from(in) &&
         counts.partitions_written.read_from(in) && in.at_end();
}

Bytes encode(const Usage::Shape& shape) {
  Bytes out(1, format_version);
  for (const std::string* text :
       {&shape.name.query, &shape.name.kind, &shape.name.keyspace, &shape.name.table})
    base::append_sized(out, *text);
  base::append_varint(out, shape.name.tables.size());
  for (const uint32_t table : shape.name.tables) base::append_varint(out, table);
  const ShapeCounts& counts = shape.counts;
  for (const uint64_t number : {counts.calls, counts.partitions_read, counts.rows_read, counts.rows_returned,
                                counts.tombstones_read, counts.partitions_max})
    base::append_varint(out, number);
  base::append_signed_varint(out, counts.first_seen_micros);
  base::append_signed_varint(out, counts.last_seen_micros);
  counts.latency_micros.append_to(out);
  return out;
}

bool decode(BytesView bytes, Usage::Shape& shape) {
  if (bytes.empty() || bytes.front() != format_version) return false;
  base::Reader in(bytes.substr(1));
  for (std::string* text : {&shape.name.query, &shape.name.kind, &shape.name.keyspace, &shape.name.table}) {
    BytesView found;
    if (!in.sized(found)) return false;
    *text = found;
  }
  uint64_t tables = 0;
  if (!in.varint(tables) || tables == 0 || tables > in.rest().size()) return false;
  for (uint64_t i = 0; i < tables; ++i) {
    uint64_t table = 0;
    if (!in.varint(table) || table > UINT32_MAX) return false;
    shape.name.tables.push_back(static_cast<uint32_t>(table));
  }
  ShapeCounts& counts = shape.counts;
  for (uint64_t* number : {&counts.calls, &counts.partitions_read, &counts.rows_read, &counts.rows_returned,
                           &counts.tombstones_read, &counts.partitions_max})
    if (!in.varint(*number)) return false;
  return in.signed_varint(counts.first_seen_micros) && in.signed_varint(counts.last_seen_micros) &&
         counts.latency_micros.read_from(in) && in.at_end();
}

// Everything that is read when the server starts.
struct Loaded {
  int64_t since_micros = 0, saved_micros = 0;
  std::vector<Usage::Pause> pauses;
  std::vector<Usage::Shape> shapes;
  std::map<uint32_t, TableCounts> tables;
};

Bytes encode_header(const Usage& usage, int64_t now_micros) {
  Bytes out(1, format_version);
  base::append_signed_varint(out, usage.since_micros());
  base::append_signed_varint(out, now_micros);
  for (const Usage::Pause& pause : usage.pauses()) {
    base::append_signed_varint(out, pause.begin_micros);
    base::append_signed_varint(out, pause.end_micros);
  }
  return out;
}

void read_header(BytesView value, Loaded& loaded) {
  base::Reader in(value);
  uint8_t version = 0;
  int64_t since = 0;
  if (!in.big_endian(version) || version != format_version || !in.signed_varint(since)) return;
  loaded.since_micros = since;
  if (!in.signed_varint(loaded.saved_micros)) return;
  Usage::Pause pause;
  while (in.signed_varint(pause.begin_micros) && in.signed_varint(pause.end_micros))
    if (pause.begin_micros < pause.end_micros) loaded.pauses.push_back(pause);
}

void read_record(BytesView rest, BytesView value, const std::unordered_set<uint32_t>& present,
                 Loaded& loaded) {
  const char record = rest.empty() ? '\0' : rest.front();
  if (record == header_record) {
    read_header(value, loaded);
  } else if (record == table_record && rest.size() == 1 + sizeof(uint32_t)) {
    const auto id = base::read_big_endian<uint32_t>(rest.substr(1));
    TableCounts counts;
    if (present.contains(id) && decode(value, counts)) loaded.tables[id] = std::move(counts);
  } else if (record == shape_record && rest.size() == 1 + sizeof(uint64_t)) {
    Usage::Shape shape;
    if (!decode(value, shape)) return;
    shape.name.id = base::read_big_endian<uint64_t>(rest.substr(1));
    if (std::all_of(shape.name.tables.begin(), shape.name.tables.end(),
                    [&](uint32_t id) { return present.contains(id); }))
      loaded.shapes.push_back(std::move(shape));
  }
}

// Writes the changed records in pieces, so that other writes do not wait for all of them. Records are
// independent, so a crash between two pieces does no harm.
class Saving {
 public:
  // Borrows both arguments. `saved`: the records that exist; see UsageKeeper.
  Saving(UsageRecords& records, std::map<Bytes, uint64_t>& saved) : records_(records), saved_(saved) {}

  template <typename Encode>
  base::Status put(Bytes key, uint64_t changes, Encode encode) {
    met_.insert(key);
    if (const auto known = saved_.find(key); known != saved_.end() && known->second == changes) return {};
    Bytes value = encode();
    bytes_ += key.size() + value.size();
    writes_.insert_or_assign(key, std::move(value));
    written_.emplace_back(std::move(key), changes);
    return bytes_ < piece_bytes ? base::Status() : commit();
  }
  // Erases the records that were not passed to put().
  base::Status finish() {
    SIBYL_TRY(commit());
    std::vector<Bytes> gone;
    for (const auto& [key, changes] : saved_)
      if (!met_.contains(key)) gone.push_back(key);
    if (!gone.empty()) SIBYL_TRY(records_.write({}, gone));
    for (const Bytes& key : gone) saved_.erase(key);
    return {};
  }

 private:
  static constexpr size_t piece_bytes = 1 << 20;

  base::Status commit() {
    if (writes_.empty()) return {};
    bytes_ = 0;
    SIBYL_TRY(records_.write(std::exchange(writes_, {}), {}));
    for (auto& [key, changes] : written_) saved_[std::move(key)] = changes;
    written_.clear();
    return {};
  }

  UsageRecords& records_;
  std::map<Bytes, uint64_t>& saved_;
  std::set<Bytes> met_;
  UsageRecords::Records writes_;
  size_t bytes_ = 0;  // of writes_
  std::vector<std::pair<Bytes, uint64_t>> written_;
};

}  // namespace

namespace {

Loaded read_records(const UsageRecords::Records& records, const schema::Snapshot& schema) {
  const std::unordered_set<uint32_t> present = schema::table_ids(schema);
  Loaded loaded;
  for (const auto& [key, value] : records) read_record(key, value, present, loaded);
  return loaded;
}

}  // namespace

base::Status load_usage(UsageRecords& records, const schema::Snapshot& schema, Usage& usage) {
  SIBYL_ASSIGN(const UsageRecords::Records found, records.load());
  Loaded loaded = read_records(found, schema);
  if (loaded.since_micros == 0) return {};
  const int64_t now = usage.since_micros();
  if (loaded.saved_micros != 0 && loaded.saved_micros < now)
    loaded.pauses.push_back({loaded.saved_micros, now});
  usage.load(loaded.since_micros, std::move(loaded.pauses), std::move(loaded.shapes),
             std::move(loaded.tables));
  return {};
}

base::Status load_usage(storage::Store& store, const schema::Snapshot& schema, Usage& usage) {
  return load_usage(*make_usage_records(store), schema, usage);
}

std::optional<UsageTotals> saved_totals(const UsageRecords::Records& records,
                                        const schema::Snapshot& schema) {
  Loaded loaded = read_records(records, schema);
  if (loaded.since_micros == 0) return std::nullopt;
  return UsageTotals{counted_intervals(loaded.since_micros, loaded.saved_micros, loaded.pauses),
                     std::move(loaded.shapes), std::move(loaded.tables)};
}

UsageKeeper::UsageKeeper(std::shared_ptr<UsageRecords> records, Usage& usage,
                         std::function<schema::SnapshotPtr()> schema, std::function<void()> every_minute)
    : records_(std::move(records)),
      usage_(usage),
      schema_(std::move(schema)),
      every_minute_(std::move(every_minute)) {
  // Existing records whose counts were not loaded are erased by the first save.
  if (const auto existing = records_->load())
    for (const auto& [key, value] : *existing) saved_[key] = 0;
  thread_ = std::thread([this] { run(); });
}

UsageKeeper::~UsageKeeper() {
  {
    const base::MutexLock lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_one();
  thread_.join();
  if (const auto status = save(); !status)
    spdlog::warn("statistics could not be saved: {}", status.error().text());
}

void UsageKeeper::run() {
  base::MutexLock lock(mutex_);
  while (true) {
    const auto next = std::chrono::steady_clock::now() + interval;
    while (!stopping_ && wake_.wait_until(mutex_, next)) continue;
    if (stopping_) return;
    lock.unlock();
    const base::Status status = base::contain([&] {
      base::Status saved = save();
      every_minute_();
      return saved;
    });
    if (!status) spdlog::warn("statistics could not be saved: {}", status.error().text());
    lock.lock();
  }
}

base::Status UsageKeeper::save() {
  const base::MutexLock lock(saving_);
  usage_.update_now();
  usage_.forget_dropped(*schema_());
  const std::vector<Usage::Shape> shapes = usage_.shapes();
  const std::map<uint32_t, TableCounts> tables = usage_.tables();
  if (shapes.empty() && tables.empty() && saved_.empty()) return {};
  Saving saving(*records_, saved_);
  // The header is written first, because the other records are not read without it. It is written each time,
  // because it has the time until which statements were counted.
  SIBYL_TRY(saving.put(record_key(header_record), ++saves_,
                       [&] { return encode_header(usage_, usage_.now_micros()); }));
  for (const Usage::Shape& shape : shapes)
    SIBYL_TRY(saving.put(shape_key(shape.name.id), shape.counts.calls, [&] { return encode(shape); }));
  for (const auto& [id, counts] : tables)
    SIBYL_TRY(saving.put(table_key(id), counts.reads + counts.writes,
                         [&counts = counts] { return encode(counts); }));
  return saving.finish();
}

}  // namespace sibyl::engine
