#include "cli/import_sstables/table_plan.h"

#include <fmt/format.h>

#include <algorithm>

#include "types/identifier.h"

namespace sibyl::cli::import_sstables {
namespace {

using types::quote_identifier;

std::string equal_to_markers(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names)
    text += fmt::format("{}{} = ?", text.empty() ? "" : " AND ", quote_identifier(name));
  return text;
}

size_t add_statement(PartPlan& plan, std::string text) {
  plan.part.statements.push_back(std::move(text));
  return plan.part.statements.size() - 1;
}

void add_column_deletions(PartPlan& plan) {
  const std::string table = plan.part.quoted_name(), key = equal_to_markers(plan.part.key);
  for (size_t i = 0; i < plan.part.columns.size(); ++i) {
    const migrate::PartColumn& column = plan.part.columns[i];
    const std::string name = quote_identifier(column.name);
    const auto remove = [&](const std::string& what) {
      return add_statement(plan,
                           fmt::format("DELETE {} FROM {} USING TIMESTAMP ? WHERE {}", what, table, key));
    };
    ColumnPlan& planned = plan.columns[column.name];
    planned.part_column = i;
    planned.remove = remove(name);
    if (!column.is_multi_cell || column.is_list()) continue;
    if (column.type->kind() != types::Kind::udt) {
      planned.remove_element = remove(name + "[?]");
      continue;
    }
    for (const std::string& field : column.type->field_names())
      planned.remove_fields.push_back(remove(name + "." + quote_identifier(field)));
  }
}

void add_range_deletions(TablePlan& plan) {
  PartPlan& rows = *plan.row_part;
  const std::string begin = fmt::format("DELETE FROM {} USING TIMESTAMP ? WHERE ", plan.name);
  const std::string partition = equal_to_markers(plan.partition_key);
  plan.remove_partition = add_statement(rows, begin + partition);
  rows.remove_row = add_statement(rows, begin + equal_to_markers(rows.part.key));
  std::string prefix = partition;
  for (size_t i = 0; i < plan.clustering.size(); ++i) {
    const std::string name = quote_identifier(plan.clustering[i]);
    for (const char* lower : {"", ">", ">="}) {
      for (const char* upper : {"", "<", "<="}) {
        std::string bounds;
        if (*lower != '\0') bounds += fmt::format(" AND {} {} ?", name, lower);
        if (*upper != '\0') bounds += fmt::format(" AND {} {} ?", name, upper);
        if (!bounds.empty()) plan.ranges[{i, lower, upper}] = add_statement(rows, begin + prefix + bounds);
      }
    }
    prefix += fmt::format(" AND {} = ?", name);
    plan.ranges[{i + 1, "", ""}] = add_statement(rows, begin + prefix);
  }
}

// True if the types are equal, apart from names of user types and from being frozen.
bool have_same_layout(const types::Type& left, const types::Type& right) {
  if (left.kind() != right.kind() || left.dimension() != right.dimension() ||
      left.parameters().size() != right.parameters().size() || left.field_names() != right.field_names())
    return false;
  for (size_t i = 0; i < left.parameters().size(); ++i)
    if (!have_same_layout(*left.parameters()[i], *right.parameters()[i])) return false;
  return true;
}

base::Status check_columns(const std::optional<PartPlan>& part,
                           const std::vector<sstable::HeaderColumn>& columns, const std::string& file,
                           std::vector<std::string>& unknown) {
  for (const sstable::HeaderColumn& column : columns) {
    const ColumnPlan* planned = nullptr;
    if (part)
      if (const auto found = part->columns.find(column.name); found != part->columns.end())
        planned = &found->second;
    if (planned == nullptr) {
      unknown.push_back(column.name);
      continue;
    }
    const migrate::PartColumn& ours = part->part.columns[planned->part_column];
    if (ours.is_multi_cell != column.type->is_multi_cell() || !have_same_layout(*ours.type, *column.type))
      return base::fail(base::ErrorCode::invalid,
                        fmt::format("{}: column {} is {}, but that of the table is {}{}", file, column.name,
                                    column.type->cql_name(), ours.type->cql_name(),
                                    ours.is_multi_cell ? " and not frozen" : ""));
  }
  return {};
}

base::Status add_parts(client::Connection& server, const migrate::SourceTable& table, TablePlan& plan) {
  for (migrate::Part& part : migrate::parts_of(table, false)) {
    SIBYL_ASSIGN(const client::Prepared select, server.prepare(part.select));
    SIBYL_TRY(set_types(part, select));
    PartPlan planned;
    const bool is_static = part.is_static;
    for (size_t i = plan.partition_key.size(); i < part.key.size() && i < select.result.size(); ++i)
      plan.clustering_types.push_back(select.result[i].type);
    planned.part = std::move(part);
    if (plan.is_counter) {
      for (size_t i = 0; i < planned.part.columns.size(); ++i)
        planned.columns[planned.part.columns[i].name].part_column = i;
    } else {
      add_column_deletions(planned);
    }
    (is_static ? plan.static_part : plan.row_part) = std::move(planned);
  }
  return {};
}

}  // namespace

base::Result<TablePlan> plan_table(client::Connection& server, const std::string& keyspace,
                                   const std::string& table) {
  SIBYL_ASSIGN(const std::vector<migrate::SourceKeyspace> found, migrate::read_schema(server, {keyspace}));
  const auto known = std::ranges::find(found[0].tables, table, &migrate::SourceTable::name);
  if (known == found[0].tables.end())
    return base::fail(
        base::Error(base::ErrorCode::invalid, fmt::format("There is no table {}.{}", keyspace, table))
            .with_hint("create it first: a Cassandra snapshot has its definition in schema.cql"));
  if (known->is_compact())
    return base::fail(
        base::ErrorCode::invalid,
        fmt::format("{} has COMPACT STORAGE, whose SSTables cannot be imported", known->quoted_name()));
  TablePlan plan;
  plan.name = known->quoted_name();
  plan.is_counter = known->is_counter();
  for (const migrate::SourceColumn& column : known->columns) {
    if (column.kind == "partition_key") plan.partition_key.push_back(column.name);
    if (column.kind == "clustering") plan.clustering.push_back(column.name);
  }
  SIBYL_TRY(add_parts(server, *known, plan));
  if (!plan.is_counter) add_range_deletions(plan);
  return plan;
}

base::Result<std::vector<std::string>> check_header(const TablePlan& plan, const sstable::Header& header,
                                                    const std::string& file) {
  if (header.clustering.size() != plan.clustering.size())
    return base::fail(base::ErrorCode::invalid,
                      fmt::format("{} has {} clustering columns, but the table {} has {}", file,
                                  header.clustering.size(), plan.name, plan.clustering.size()));
  for (size_t i = 0; i < plan.clustering_types.size(); ++i)
    if (!have_same_layout(*plan.clustering_types[i], *header.clustering[i]))
      return base::fail(
          base::ErrorCode::invalid,
          fmt::format("{}: clustering column {} is {}, but that of the table is {}", file, plan.clustering[i],
                      header.clustering[i]->cql_name(), plan.clustering_types[i]->cql_name()));
  std::vector<std::string> unknown;
  SIBYL_TRY(check_columns(plan.static_part, header.static_columns, file, unknown));
  SIBYL_TRY(check_columns(plan.row_part, header.columns, file, unknown));
  return unknown;
}

}  // namespace sibyl::cli::import_sstables
