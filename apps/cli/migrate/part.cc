#include "cli/migrate/part.h"

#include <fmt/format.h>

#include <algorithm>

#include "types/identifier.h"
#include "types/print.h"

namespace sibyl::cli::migrate {
namespace {

using types::quote_identifier;

std::string quoted_names(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + quote_identifier(name);
  return text;
}

std::string where_key(const Part& part) {
  std::string text;
  for (const std::string& name : part.key)
    text += fmt::format("{}{} = ?", text.empty() ? " WHERE " : " AND ", quote_identifier(name));
  return text;
}

// Native types are lower-case names; others that are not frozen are user types.
bool is_multi_cell(const std::string& type) {
  for (const char* collection : {"list<", "set<", "map<"})
    if (type.starts_with(collection)) return true;
  const bool is_other = type.starts_with("frozen<") || type.starts_with("vector<") ||
                        type.starts_with("tuple<") || type.starts_with("'");
  return !is_other && types::scalar_by_name(type) == nullptr;
}

std::string selected_columns(Part& part) {
  std::string text = quoted_names(part.key);
  size_t position = part.key.size();
  for (PartColumn& column : part.columns) {
    const std::string name = quote_identifier(column.name);
    column.position = position;
    text += ", " + name;
    if (column.has_times) text += fmt::format(", WRITETIME({}), TTL({})", name, name);
    position += column.has_times ? 3 : 1;
  }
  return text;
}

Part make_part(const SourceTable& table, bool is_static, bool has_element_times) {
  Part part;
  part.keyspace = table.keyspace;
  part.table = table.name;
  part.is_static = is_static;
  part.is_counter = table.is_counter();
  for (const SourceColumn& column : table.columns) {
    if (column.kind == "partition_key") part.partition_key.push_back(column.name);
    if (column.kind == "partition_key" || (column.kind == "clustering" && !is_static))
      part.key.push_back(column.name);
    if (column.is_key() || (column.kind == "static") != is_static) continue;
    PartColumn& added = part.columns.emplace_back();
    added.name = column.name;
    added.is_multi_cell = is_multi_cell(column.type);
    added.has_times = !part.is_counter && (!added.is_multi_cell || has_element_times);
  }
  const std::string token = "token(" + quoted_names(part.partition_key) + ")";
  const std::string columns = selected_columns(part);
  part.select = fmt::format("SELECT {}{} FROM {} WHERE {} >= ? AND {} <= ?", is_static ? "DISTINCT " : "",
                            columns, part.quoted_name(), token, token);
  return part;
}

void add_row_statements(Part& part) {
  std::string names = quoted_names(part.key), markers, assignments;
  for (size_t i = 0; i < part.key.size(); ++i) markers += i == 0 ? "?" : ", ?";
  for (const PartColumn& column : part.columns) {
    if (column.is_multi_cell) continue;
    names += ", " + quote_identifier(column.name);
    markers += ", ?";
    assignments += fmt::format("{}{} = ?", assignments.empty() ? "" : ", ", quote_identifier(column.name));
  }
  const std::string insert = fmt::format("INSERT INTO {} ({}) VALUES ({}) USING TIMESTAMP ? AND TTL ?",
                                         part.quoted_name(), names, markers);
  // An INSERT of static columns makes no row, so they need no UPDATE.
  const bool has_update = !assignments.empty() && !part.is_static;
  const std::string update = fmt::format("UPDATE {} USING TIMESTAMP ? AND TTL ? SET {}{}", part.quoted_name(),
                                         assignments, where_key(part));
  // An INSERT of only the partition key is an error. Without static cells there is nothing to insert, so the
  // SELECT is a placeholder for statements that are never executed.
  if (part.is_static && assignments.empty())
    part.statements = {part.select, part.select};
  else
    part.statements = {insert, has_update ? update : insert};
}

void add_column_statement(Part& part, PartColumn& column) {
  const std::string name = quote_identifier(column.name);
  std::string assignments;
  if (column.type->kind() == types::Kind::udt) {
    for (const std::string& field : column.type->field_names())
      assignments +=
          fmt::format("{}{}.{} = ?", assignments.empty() ? "" : ", ", name, quote_identifier(field));
  } else {
    assignments = fmt::format("{} = {} + ?", name, name);
  }
  const std::string update = fmt::format("UPDATE {} USING TIMESTAMP ? AND TTL ? SET ", part.quoted_name());
  column.statement = part.statements.size();
  part.statements.push_back(update + assignments + where_key(part));
  // A list that the target already has is replaced.
  if (column.is_list()) part.statements.push_back(update + name + " = ?" + where_key(part));
}

void add_counter_statement(Part& part) {
  std::string assignments;
  for (const PartColumn& column : part.columns) {
    const std::string name = quote_identifier(column.name);
    assignments += fmt::format("{}{} = {} + ?", assignments.empty() ? "" : ", ", name, name);
  }
  part.statements = {fmt::format("UPDATE {} SET {}{}", part.quoted_name(), assignments, where_key(part))};
}

}  // namespace

std::string Part::title() const {
  return quoted_name() + (is_static ? " (static columns)" : "");
}

std::string Part::quoted_name() const {
  return quote_identifier(keyspace) + "." + quote_identifier(table);
}

std::vector<Part> parts_of(const SourceTable& table, bool has_element_times) {
  std::vector<Part> parts;
  const auto has = [&](const char* kind) {
    return std::ranges::any_of(table.columns,
                               [&](const SourceColumn& column) { return column.kind == kind; });
  };
  if (has("static")) parts.push_back(make_part(table, true, has_element_times));
  // The rows of a counter table are its counters.
  if (!table.is_counter() || has("regular")) parts.push_back(make_part(table, false, has_element_times));
  return parts;
}

base::Status set_types(Part& part, const client::Prepared& select) {
  for (PartColumn& column : part.columns) {
    if (column.position >= select.result.size())
      return base::fail(base::ErrorCode::server,
                        fmt::format("{}: the result has too few columns", part.title()));
    column.type = select.result[column.position].type;
  }
  std::vector<std::string> read_first;
  if (part.is_counter) {
    add_counter_statement(part);
  } else {
    add_row_statements(part);
    for (PartColumn& column : part.columns)
      if (column.is_multi_cell) add_column_statement(part, column);
  }
  for (const PartColumn& column : part.columns)
    if (part.is_counter || column.is_list()) read_first.push_back(column.name);
  if (!read_first.empty())
    part.read_target = fmt::format("SELECT {}{} FROM {}{}", part.is_static ? "DISTINCT " : "",
                                   quoted_names(read_first), part.quoted_name(), where_key(part));
  return {};
}

std::string select_one(const Part& part) {
  const size_t where = part.select.rfind(" WHERE ");
  return part.select.substr(0, where) + where_key(part);
}

}  // namespace sibyl::cli::migrate
