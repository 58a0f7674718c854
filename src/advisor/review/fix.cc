#include "advisor/review/fix.h"

#include <fmt/format.h>

#include <algorithm>

#include "types/identifier.h"

namespace sibyl::advisor {
namespace {

std::string quoted(std::string_view name) {
  return types::quote_identifier(name);
}

std::string joined(const std::vector<std::string>& names) {
  std::vector<std::string> out;
  for (const std::string& name : names) out.push_back(quoted(name));
  return fmt::format("{}", fmt::join(out, ", "));
}

void add_unique(std::vector<std::string>& names, const std::string& name) {
  if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
}

std::string printed(const std::map<std::string, std::string>& map) {
  std::vector<std::string> parts;
  for (const auto& [key, value] : map)
    parts.push_back(types::quote_string(key) + ": " + types::quote_string(value));
  return fmt::format("{{{}}}", fmt::join(parts, ", "));
}

// Options that concern rows and files, if they differ from the defaults.
std::vector<std::string> options_of(const schema::TableOptions& options) {
  const schema::TableOptions usual;
  std::vector<std::string> out;
  if (options.default_time_to_live != usual.default_time_to_live)
    out.push_back(fmt::format("default_time_to_live = {}", options.default_time_to_live));
  if (options.gc_grace_seconds != usual.gc_grace_seconds)
    out.push_back(fmt::format("gc_grace_seconds = {}", options.gc_grace_seconds));
  if (options.compaction != usual.compaction) out.push_back("compaction = " + printed(options.compaction));
  if (options.compression != usual.compression)
    out.push_back("compression = " + printed(options.compression));
  if (options.caching != usual.caching) out.push_back("caching = " + printed(options.caching));
  return out;
}

// Names a table after its key, such as `users_by_email`. The name differs from `table`.
std::string name_by_key(const std::string& table, const Shape& shape) {
  const std::string by = stem_of(table) + "_by_";
  std::string name = fmt::format("{}{}", by, fmt::join(shape.partition, "_and_"));
  if (name.size() > max_name_length) name = by + shape.partition[0];
  if (name == table && !shape.clustering.empty()) name += "_and_" + shape.clustering[0].name;
  return name;
}

}  // namespace

std::string listed(const std::vector<std::string>& names) {
  std::string out;
  for (size_t i = 0; i < names.size(); ++i)
    out += (i == 0 ? "" : i + 1 == names.size() ? " and " : ", ") + names[i];
  return out;
}

bool Shape::has(std::string_view column) const {
  return std::any_of(columns.begin(), columns.end(), [&](const Column& one) { return one.name == column; });
}

bool Shape::in_key(std::string_view column) const {
  return std::find(partition.begin(), partition.end(), column) != partition.end() ||
         std::any_of(clustering.begin(), clustering.end(),
                     [&](const Order& order) { return order.name == column; });
}

void Shape::add_to_partition(Column column) {
  partition.push_back(column.name);
  columns.insert(columns.begin() + static_cast<ptrdiff_t>(partition.size()) - 1, std::move(column));
}

void Shape::promote(const std::string& column) {
  const auto order = std::find_if(clustering.begin(), clustering.end(),
                                  [&](const Order& one) { return one.name == column; });
  if (order == clustering.end()) return;
  clustering.erase(order);
  const auto found =
      std::find_if(columns.begin(), columns.end(), [&](const Column& one) { return one.name == column; });
  Column moved = *found;
  columns.erase(found);
  add_to_partition(std::move(moved));
}

void Shape::remove_from_partition(const std::string& column) {
  std::erase(partition, column);
  std::erase_if(columns, [&](const Column& one) { return one.name == column; });
}

std::string Shape::free_name(std::string name) const {
  while (has(name)) name += "_of_key";
  return name;
}

std::string Shape::cql() const {
  std::string text =
      fmt::format("CREATE TABLE {}{} (\n", keyspace.empty() ? "" : quoted(keyspace) + ".", quoted(name));
  for (const Column& column : columns)
    text += fmt::format("  {} {}{},\n", quoted(column.name), column.type, column.is_static ? " STATIC" : "");
  text += "  PRIMARY KEY (";
  text += partition.size() == 1 ? quoted(partition[0]) : "(" + joined(partition) + ")";
  bool descending = false;
  std::vector<std::string> order;
  for (const Order& one : clustering) {
    text += ", " + quoted(one.name);
    order.push_back(quoted(one.name) + (one.descending ? " DESC" : " ASC"));
    descending = descending || one.descending;
  }
  text += ")\n)";
  std::vector<std::string> with;
  if (descending) with.push_back(fmt::format("CLUSTERING ORDER BY ({})", fmt::join(order, ", ")));
  with.insert(with.end(), options.begin(), options.end());
  if (!with.empty()) text += fmt::format(" WITH {}", fmt::join(with, "\n  AND "));
  return text + ";\n";
}

Shape shape_of(const schema::Table& table) {
  Shape shape;
  if (table.keyspace != default_keyspace) shape.keyspace = table.keyspace;
  shape.name = table.name;
  shape.options = options_of(table.options);
  for (const schema::Column& column : table.columns) {
    shape.columns.push_back({column.name, column.type->cql_name(), column.is_static()});
    if (column.is_partition_key()) shape.partition.push_back(column.name);
    if (column.is_clustering()) shape.clustering.push_back({column.name, column.descending});
  }
  return shape;
}

bool shape_for(const schema::Table& table, const cql::Select& select, Shape& shape) {
  std::vector<std::string> equal, ranges;
  for (const cql::Relation& relation : select.where) {
    for (const std::string& name : relation.columns) {
      const schema::Column* column = table.find(name);
      // Collections and counters cannot be part of a key.
      if (column == nullptr || column->type->is_multi_cell() || column->type->is_counter()) return false;
      if (column->type->kind() == types::Kind::duration) return false;
      const bool one = relation.op == cql::Operator::equal || relation.op == cql::Operator::in;
      if (relation.target != cql::Relation::Target::token) add_unique(one ? equal : ranges, name);
    }
  }
  if (equal.empty()) return false;
  shape = shape_of(table);
  std::vector<Shape::Order> old;
  for (const std::string& name : shape.partition) old.push_back({name, false});
  old.insert(old.end(), shape.clustering.begin(), shape.clustering.end());
  shape.partition = equal;
  shape.clustering.clear();
  for (Shape::Column& column : shape.columns) column.is_static = false;
  const auto add = [&](const std::string& name, bool descending) {
    if (!shape.in_key(name)) shape.clustering.push_back({name, descending});
  };
  for (const cql::Ordering& order : select.order_by) {
    const schema::Column* column = table.find(order.column);
    if (order.ann_of || column == nullptr || column->type->is_multi_cell() || column->type->is_counter())
      return false;
    add(order.column, order.descending);
  }
  for (const std::string& name : ranges) add(name, false);
  for (const Shape::Order& order : old) add(order.name, order.descending);
  shape.name = name_by_key(table.name, shape);
  return true;
}

std::string stem_of(const std::string& name) {
  const size_t by = name.find("_by_");
  return by == std::string::npos || by == 0 ? name : name.substr(0, by);
}

std::string select_by_key(const schema::Table& table) {
  std::vector<std::string> parts;
  for (size_t i = 0; i < table.partition_key_count; ++i)
    parts.push_back(quoted(table.partition_key(i).name) + " = ?");
  const std::string keyspace = table.keyspace != default_keyspace ? quoted(table.keyspace) + "." : "";
  return fmt::format("SELECT * FROM {}{} WHERE {};\n", keyspace, quoted(table.name),
                     fmt::join(parts, " AND "));
}

const schema::Column* time_column(const schema::Table& table) {
  for (size_t i = 0; i < table.clustering_count; ++i) {
    if (is_time(table.clustering(i))) return &table.clustering(i);
  }
  return nullptr;
}

const schema::Column* time_column(const TableFacts& facts) {
  const schema::Table& table = *facts.table;
  for (size_t i = 0; i < table.clustering_count; ++i) {
    if (facts.is_time(table.clustering(i))) return &table.clustering(i);
  }
  return nullptr;
}

}  // namespace sibyl::advisor
