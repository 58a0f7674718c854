#include "engine/system_tables/usage_rows.h"

#include <fmt/format.h>

#include <array>
#include <set>

#include "engine/key_names.h"
#include "engine/system_tables/monitor_rows.h"
#include "row/record_key.h"
#include "storage/partition_sample.h"
#include "types/keys/key.h"
#include "types/print_value.h"
#include "types/value.h"

namespace sibyl::engine {
namespace {

// Limit per table for reading records that are not in files. Reading them takes at most some hundredths of a
// second.
constexpr size_t max_records = 50'000;
constexpr size_t shown_partitions = 10;

Bytes encode_count(uint64_t value) {
  return types::encode_int64(static_cast<int64_t>(value));
}

// Encodes milliseconds.
Bytes timestamp(int64_t micros) {
  return types::encode_int64(micros / 1000);
}

void add_quantiles(SystemRow& row, const std::array<std::string_view, 4>& names,
                   const storage::PartitionSample::Summary::Quantiles& found) {
  const std::array values = {found.p50, found.p90, found.p99, found.max};
  for (size_t i = 0; i < names.size(); ++i) row.emplace_back(names[i], encode_count(values[i]));
}

SystemRow table_row(const schema::Table& table, const storage::PartitionSample::Summary& data,
                    const TableCounts& counts, const UsageTotals& usage) {
  const int64_t since = counts.since_micros != 0 ? counts.since_micros : usage.since_micros();
  SystemRow row = {
      {"keyspace_name", table.keyspace},
      {"table_name", table.name},
      {"partitions", encode_count(data.partitions)},
      {"rows", encode_count(data.rows)},
      {"bytes", encode_count(data.bytes)},
      {"reads", encode_count(counts.reads)},
      {"writes", encode_count(counts.writes)},
      {"since", timestamp(since)},
      {"counted_seconds", types::encode_double(static_cast<double>(usage.counted_micros(since)) / 1e6)}};
  if (data.partitions > 0) {
    add_quantiles(row,
                  {"partition_rows_p50", "partition_rows_p90", "partition_rows_p99", "partition_rows_max"},
                  data.partition_rows);
    add_quantiles(
        row, {"partition_bytes_p50", "partition_bytes_p90", "partition_bytes_p99", "partition_bytes_max"},
        data.partition_bytes);
  }
  if (counts.reads > 0) {
    const base::QuantileSketch& tombstones = counts.tombstones_per_read;
    const auto number = [&](double share) {
      return types::encode_double(static_cast<double>(tombstones.quantile(share)));
    };
    row.emplace_back("tombstones_per_read_p50", number(0.5));
    row.emplace_back("tombstones_per_read_p99", number(0.99));
    row.emplace_back("tombstones_per_read_max", encode_count(tombstones.max()));
  }
  return row;
}

// Prints the components of a key as CQL literals, joined by colons. For a key that was too long to be kept,
// only the token is known. Masked components are not shown. For a key with a masked component, the token is
// not shown either.
std::string key_text(const schema::Table& table, const base::SpaceSaving::Entry& entry, bool is_record_key) {
  const std::string token = has_masked_partition_key(table)
                                ? masked_key_text
                                : fmt::format("token {}", static_cast<int64_t>(entry.hash));
  if (entry.name.empty()) return token;
  Bytes serialised = entry.name;
  // The bytes before the key in a record's prefix are not needed here.
  if (is_record_key && !row::decode_partition_key(Bytes(12, '\0') + entry.name, serialised)) return token;
  std::vector<Bytes> parts = {serialised};
  if (table.partition_key_count > 1) {
    auto split = types::split_partition_key(serialised, table.partition_key_count);
    if (!split) return token;
    parts = std::move(*split);
  }
  std::string text;
  for (size_t i = 0; i < parts.size(); ++i) {
    const schema::Column& column = table.partition_key(i);
    text += i == 0 ? "" : ":";
    text += column.mask ? masked_key_text : types::to_literal(*column.type, parts[i]);
  }
  return text;
}

void add_partitions(const schema::Table& table, const base::SpaceSaving& found, bool is_write, uint64_t all,
                    std::vector<SystemRow>& rows) {
  int32_t rank = 0;
  for (const base::SpaceSaving::Entry& entry : found.heaviest(shown_partitions)) {
    // A lower bound of the share.
    const double share =
        all == 0 ? 0 : static_cast<double>(entry.count - entry.error) / static_cast<double>(all);
    rows.push_back({{"keyspace_name", table.keyspace},
                    {"table_name", table.name},
                    {"kind", is_write ? "write" : "read"},
                    {"rank", types::encode_int32(++rank)},
                    {"partition_key", key_text(table, entry, is_write)},
                    {"count", encode_count(entry.count)},
                    {"error", encode_count(entry.error)},
                    {"share", types::encode_double(share)}});
  }
}

}  // namespace

std::vector<SystemRow> table_statistic_rows(const storage::Store& store, const UsageTotals& usage,
                                            const schema::Snapshot& schema) {
  std::vector<uint32_t> ids;
  for_each_user_table(schema, [&](const schema::Table& table) { ids.push_back(table.storage_id); });
  const std::map<uint32_t, storage::PartitionSample> samples = store.partition_samples(ids, max_records);
  std::map<uint32_t, TableCounts> counts = usage.tables;
  std::vector<SystemRow> rows;
  for_each_user_table(schema, [&](const schema::Table& table) {
    rows.push_back(table_row(table, samples.at(table.storage_id).summary(), counts[table.storage_id], usage));
  });
  return rows;
}

std::vector<SystemRow> hot_partition_rows(const UsageTotals& usage, const schema::Snapshot& schema) {
  const std::map<uint32_t, TableCounts>& counts = usage.tables;
  std::vector<SystemRow> rows;
  for_each_user_table(schema, [&](const schema::Table& table) {
    const auto found = counts.find(table.storage_id);
    if (found == counts.end()) return;
    add_partitions(table, found->second.partitions_read, false, found->second.reads, rows);
    add_partitions(table, found->second.partitions_written, true, found->second.writes, rows);
  });
  return rows;
}

std::vector<SystemRow> query_shape_rows(const UsageTotals& usage, const schema::Snapshot& schema) {
  std::set<uint32_t> present;
  for_each_user_table(schema, [&](const schema::Table& table) { present.insert(table.storage_id); });
  std::vector<SystemRow> rows;
  for (const Usage::Shape& shape : usage.shapes) {
    if (!present.contains(shape.name.tables.front())) continue;
    const ShapeCounts& counts = shape.counts;
    rows.push_back({{"keyspace_name", shape.name.keyspace},
                    {"shape", fmt::format("{:016x}", shape.name.id)},
                    {"query", shape.name.query},
                    {"kind", shape.name.kind},
                    {"table_name", shape.name.table},
                    {"calls", encode_count(counts.calls)},
                    {"partitions_read", encode_count(counts.partitions_read)},
                    {"rows_read", encode_count(counts.rows_read)},
                    {"rows_returned", encode_count(counts.rows_returned)},
                    {"tombstones_read", encode_count(counts.tombstones_read)},
                    {"partitions_max", encode_count(counts.partitions_max)},
                    {"latency_p50_us", encode_count(counts.latency_micros.quantile(0.5))},
                    {"latency_p99_us", encode_count(counts.latency_micros.quantile(0.99))},
                    {"latency_max_us", encode_count(counts.latency_micros.max())},
                    {"first_seen", timestamp(counts.first_seen_micros)},
                    {"last_seen", timestamp(counts.last_seen_micros)}});
  }
  return rows;
}

}  // namespace sibyl::engine
