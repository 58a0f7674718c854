#include "engine/system_tables/estimates.h"

#include <algorithm>
#include <functional>
#include <limits>

#include "engine/system_tables/system_tables.h"
#include "row/record_key.h"
#include "types/value.h"

namespace sibyl::engine {
namespace {

constexpr size_t sampled_records = 2'000;

// The ring of the node, divided at its token as in Cassandra: ( token, minimum ] and ( minimum, token ].
struct Range {
  const char *start, *end;
  int64_t first, last;
};
constexpr Range ranges[] = {
    {"-9223372036854775808", node_token, std::numeric_limits<int64_t>::min(), 0},
    {node_token, "-9223372036854775808", 1, std::numeric_limits<int64_t>::max()},
};

void for_each_table(const schema::Snapshot& schema, const std::function<void(const schema::Table&)>& visit) {
  for (const auto& [name, keyspace] : schema.keyspaces) {
    if (keyspace->is_system) continue;
    for (const auto& [table_name, table] : keyspace->tables) visit(*table);
  }
}

SystemRow estimate_row(const storage::Store& store, const schema::Table& table, const Range& range) {
  Estimate found = estimate(store, table, range.first, range.last);
  return {{"keyspace_name", table.keyspace},
          {"table_name", table.name},
          {"range_start", range.start},
          {"range_end", range.end},
          {"mean_partition_size", types::encode_int64(static_cast<int64_t>(found.mean_partition_bytes))},
          {"partitions_count", types::encode_int64(static_cast<int64_t>(found.partitions))}};
}

}  // namespace

Estimate estimate(const storage::Store& store, const schema::Table& table, int64_t first, int64_t last) {
  Bytes begin = row::token_begin(table.storage_id, first), end = row::token_end(table.storage_id, last);
  auto records = store.iterate(begin, end);
  uint64_t bytes = 0, partitions = 0;
  size_t count = 0;
  Bytes prefix;
  for (records->seek_to_first(); records->valid() && count < sampled_records; records->next(), ++count) {
    row::RecordKey key;
    if (!row::parse_record_key(records->key(), key)) continue;
    if (BytesView(prefix) != key.prefix(records->key())) {
      prefix = key.prefix(records->key());
      ++partitions;
    }
    bytes += records->key().size() + records->value().size();
  }
  if (partitions == 0) return {};
  Estimate out{partitions, bytes / partitions};
  if (records->valid()) {
    uint64_t total = std::max(bytes, store.approximate_size(begin, end));
    out.partitions = std::max(partitions, total * partitions / bytes);
  }
  return out;
}

uint64_t table_bytes(const storage::Store& store, const schema::Table& table) {
  return store.approximate_size(row::table_begin(table.storage_id), row::table_end(table.storage_id));
}

std::vector<SystemRow> size_estimate_rows(const storage::Store& store, const schema::Snapshot& schema) {
  std::vector<SystemRow> rows;
  for_each_table(schema, [&](const schema::Table& table) {
    for (const Range& range : ranges) rows.push_back(estimate_row(store, table, range));
  });
  return rows;
}

std::vector<SystemRow> table_estimate_rows(const storage::Store& store, const schema::Snapshot& schema) {
  std::vector<SystemRow> rows;
  for (SystemRow& row : size_estimate_rows(store, schema))
    for (const char* type : {"primary", "local_primary"}) {
      rows.push_back(row);
      rows.back().emplace_back("range_type", type);
    }
  return rows;
}

std::vector<SystemRow> disk_usage_rows(const storage::Store& store, const schema::Snapshot& schema) {
  std::vector<SystemRow> rows;
  for_each_table(schema, [&](const schema::Table& table) {
    const uint64_t bytes = table_bytes(store, table);
    rows.push_back(
        {{"keyspace_name", table.keyspace},
         {"table_name", table.name},
         {"mebibytes", types::encode_int64(static_cast<int64_t>((bytes + (1u << 20) - 1) >> 20))}});
  });
  return rows;
}

}  // namespace sibyl::engine
