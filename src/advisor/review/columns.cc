// The columns of a table in the notation of Chebotko diagrams.
#include <algorithm>

#include "advisor/review/review_model.h"

namespace sibyl::advisor {
namespace {

using types::Kind;

std::string notation(const schema::Column& column) {
  switch (column.type->kind()) {
    case Kind::list:
      return "[" + column.name + "]";
    case Kind::set:
      return "{" + column.name + "}";
    case Kind::map:
      return "<" + column.name + ">";
    case Kind::tuple:
      return "(" + column.name + ")";
    case Kind::udt:
      return "*" + column.name + "*";
    default:
      return column.name;
  }
}

std::string marks(const schema::Table& table, const schema::Column& column) {
  std::string out;
  const auto add = [&](const char* mark) { out += (out.empty() ? "" : " ") + std::string(mark); };
  if (column.is_partition_key()) add("K");
  if (column.is_clustering()) add(column.descending ? "C↓" : "C↑");
  if (column.is_static()) add("S");
  if (std::any_of(table.indexes.begin(), table.indexes.end(),
                  [&](const schema::Index& index) { return index.column_id == column.id; }))
    add("IDX");
  if (column.type->is_counter()) add("++");
  return out;
}

}  // namespace

std::vector<ColumnReview> review_columns(const schema::Table& table) {
  std::vector<ColumnReview> out;
  for (const schema::Column& column : table.columns)
    out.push_back({column.name, column.type->cql_name(), notation(column), marks(table, column)});
  return out;
}

}  // namespace sibyl::advisor
