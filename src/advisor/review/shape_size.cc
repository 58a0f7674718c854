// Estimates what a proposed table would hold.
#include <algorithm>

#include "advisor/review/fix.h"

namespace sibyl::advisor {
namespace {

// The types of columns that fixes add or change.
types::TypePtr type_of(const std::string& name) {
  using types::Kind;
  for (const Kind kind : {Kind::int_, Kind::timestamp, Kind::timeuuid, Kind::uuid})
    if (types::scalar(kind)->cql_name() == name) return types::scalar(kind);
  return nullptr;
}

schema::Column column_of(const TableFacts& base, const Shape::Column& wanted) {
  schema::Column out;
  const schema::Column* old = base.table->find(wanted.name);
  if (old != nullptr) out = *old;
  out.name = wanted.name;
  if (const types::TypePtr type = type_of(wanted.type)) out.type = type;
  if (out.type == nullptr) out.type = types::scalar(types::Kind::text);
  return out;
}

schema::TablePtr build_table(const TableFacts& base, const Shape& shape) {
  schema::Table table = *base.table;
  table.view = nullptr;
  table.indexes.clear();
  table.columns.clear();
  uint32_t id = base.table->next_column_id;
  const auto add = [&](const std::string& name, schema::ColumnKind kind, bool descending) {
    const auto wanted = std::find_if(shape.columns.begin(), shape.columns.end(),
                                     [&](const Shape::Column& one) { return one.name == name; });
    schema::Column column = column_of(base, *wanted);
    column.kind = kind;
    column.descending = descending;
    if (base.table->find(name) == nullptr) column.id = id++;
    table.columns.push_back(std::move(column));
  };
  for (const std::string& name : shape.partition) add(name, schema::ColumnKind::partition_key, false);
  for (const Shape::Order& order : shape.clustering)
    add(order.name, schema::ColumnKind::clustering, order.descending);
  for (const Shape::Column& column : shape.columns)
    if (!shape.in_key(column.name))
      add(column.name, column.is_static ? schema::ColumnKind::static_ : schema::ColumnKind::regular, false);
  table.finish();
  return std::make_shared<const schema::Table>(std::move(table));
}

// Counts the partitions of the new key, and their skew.
void count_partitions(const TableFacts& base, TableFacts& out) {
  out.p50 = out.p90 = out.p99 = out.max = std::nullopt;
  out.skew = 0;
  out.partitions = 1;
  out.possible_partitions.reset();
  const bool one_key = base.table->partition_key_count == 1;
  for (size_t i = 0; i < out.table->partition_key_count; ++i) {
    const schema::Column& column = out.table->partition_key(i);
    ColumnFacts& known = out.columns[column.name];
    const bool was_key = one_key && base.table->partition_key(0).name == column.name;
    if (!known.distinct && was_key) known.distinct = base.partitions;
    // If more columns divide the rows of each value, the skew of the values stays the same.
    if (was_key && base.skew > 0) known.skew = base.skew;
    if (out.table->partition_key_count == 1) out.skew = known.skew;
    const schema::Column* old = base.table->find(column.name);
    const bool was_period = old != nullptr && old->is_partition_key() && known.is_period;
    known.is_period = was_period || ((is_time(column) || known.ticks) && (known.growth || !known.distinct));
    if (known.distinct && out.partitions)
      *out.partitions *= *known.distinct;
    else
      out.partitions.reset();
  }
  if (!out.partitions || !out.rows || *out.partitions <= *out.rows) return;
  // Rows fill the possible keys one by one.
  out.possible_partitions = out.partitions;
  out.partitions = std::max(1.0, *out.rows);
}

}  // namespace

TableFacts facts_of(const TableFacts& base, const Shape& shape) {
  TableFacts out = base;
  out.table = build_table(base, shape);
  out.name = shape.name;
  for (const schema::Column& column : out.table->columns) {
    const bool is_new = !out.columns.contains(column.name);
    ColumnFacts& known = out.columns[column.name];
    // A new column has small numbers. Each of their zero bytes takes two bytes in a key.
    if (is_new && column.type->kind() == types::Kind::int_) known.distinct = 2;
  }
  const auto& columns = out.table->columns;
  if (std::none_of(columns.begin(), columns.end(), [](const auto& column) { return column.is_static(); })) {
    out.row_bytes -= out.static_bytes_per_row;
    out.static_bytes = out.static_bytes_per_row = 0;
  }
  out.partition_bytes.reset();
  out.read_share = out.write_share = out.request_skew = std::nullopt;
  if (shape.partition != shape_of(*base.table).partition) count_partitions(base, out);
  return out;
}

double additional_bytes(const TableFacts& base, const Shape& shape) {
  const auto estimated = [](TableFacts facts) {
    // Data stored once per partition does not become larger.
    if (facts.table->partition_key_count == 1) {
      ColumnFacts& key = facts.columns[facts.table->partition_key(0).name];
      if (!key.distinct) key.distinct = facts.partitions;
    }
    return estimated_row_bytes(facts);
  };
  return std::max(0.0, estimated(facts_of(base, shape)) - estimated(base));
}

}  // namespace sibyl::advisor
