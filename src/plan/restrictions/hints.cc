// Hints for a SELECT that is refused without ALLOW FILTERING. A hint is only given if it works: an index that
// can be created and serves the comparison, or a table whose key does.
#include <fmt/format.h>

#include <algorithm>

#include "plan/indexes/index_options.h"
#include "plan/restrictions/index.h"
#include "plan/restrictions/restrictions.h"
#include "types/identifier.h"

namespace sibyl::plan {

using schema::Index;
using types::Kind;

namespace {

constexpr const char* filtering_refusal =
    "Cannot execute this query as it might involve data filtering and thus may have unpredictable "
    "performance. If you "
    "want to execute this query despite the performance unpredictability, use ALLOW FILTERING";

std::string listed(const std::vector<std::string>& names) {
  return fmt::format("{}", fmt::join(names, ", "));
}

Index::Target target_for(const Restriction& restriction) {
  const types::Type& type = *restriction.first().type;
  if (!type.is_collection()) return Index::Target::simple;
  if (restriction.kind != Restriction::Kind::contains) return Index::Target::full;
  const Restriction::Contained& contained = restriction.contained.front();
  if (contained.key != nullptr) return Index::Target::entries;
  return contained.op == cql::Operator::contains_key ? Index::Target::keys : Index::Target::values;
}

std::string written_target(Index::Target target, const std::string& column) {
  const std::string name = types::quote_identifier(column);
  switch (target) {
    case Index::Target::full:
      return fmt::format("FULL({})", name);
    case Index::Target::keys:
      return fmt::format("KEYS({})", name);
    case Index::Target::values:
      return fmt::format("VALUES({})", name);
    case Index::Target::entries:
      return fmt::format("ENTRIES({})", name);
    default:
      return name;
  }
}

bool is_word(const std::string& name) {
  return std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  });
}

// True if CREATE INDEX would accept the index and it would then serve the restriction.
bool would_serve(const schema::Table& table, const Index& index, const Restriction& restriction) {
  const schema::Column& column = restriction.first();
  std::vector<std::string> warnings;
  if (index.is_custom && (!is_word(column.name) || !check_attached_index(table, index, 1, warnings)))
    return false;
  const bool has_several =
      restriction.kind == Restriction::Kind::contains && restriction.contained.size() > 1;
  return serves(index, restriction, column) && (index.is_custom || !has_several);
}

// The CQL of an index that serves the restriction, or empty if none would.
std::string index_for(const schema::Table& table, const Restriction& restriction) {
  const schema::Column& column = restriction.first();
  const types::Type& type = *column.type;
  if (table.is_virtual || table.is_counter || table.is_view() || restriction.columns.size() > 1) return "";
  if (column.is_partition_key() && table.partition_key_count == 1) return "";
  if (type.references(Kind::duration) || type.kind() == Kind::vector) return "";
  if (type.kind() == Kind::udt && type.is_multi_cell()) return "";
  const bool is_frozen = type.is_collection() && !type.is_multi_cell();
  Index index;
  index.column_id = column.id;
  index.target = target_for(restriction);
  if (is_frozen != (index.target == Index::Target::full)) return "";
  index.options[schema::index_target_option] = written_target(index.target, column.name);
  const std::string text =
      fmt::format("CREATE INDEX ON {}.{} ({})", types::quote_identifier(table.keyspace),
                  types::quote_identifier(table.name), written_target(index.target, column.name));
  const bool has_plain = would_serve(table, index, restriction);
  index.is_custom = true;
  index.options[schema::index_class_option] = "sai";
  if (would_serve(table, index, restriction)) return text + " USING 'sai'";
  return has_plain ? text : "";
}

bool is_time(const types::Type& type) {
  return type.kind() == Kind::timestamp || type.kind() == Kind::timeuuid || type.kind() == Kind::date;
}

// A description of a table whose key serves the restriction, or empty if none would.
std::string table_for(const Restriction& restriction, bool names_partitions) {
  const schema::Column& column = restriction.first();
  const types::Type& type = *column.type;
  if (type.references(Kind::duration) || type.is_counter()) return "";
  switch (restriction.kind) {
    case Restriction::Kind::like:
      return "";
    case Restriction::Kind::contains:
      return fmt::format(
          "keep a second table with a row for each element of {} and the element as partition key",
          column.name);
    case Restriction::Kind::slice:
      if (!names_partitions && is_time(type))
        return fmt::format(
            "keep a second table that is clustered by {}, with a period of it such as the day as partition "
            "key",
            column.name);
      if (!names_partitions)
        return fmt::format(
            "keep a second table that is clustered by {}, with the columns compared by = as partition key",
            column.name);
      break;
    case Restriction::Kind::equal:
    case Restriction::Kind::in:
      if (!names_partitions)
        return type.is_multi_cell()
                   ? std::string()
                   : fmt::format("keep a second table whose partition key is {}", column.name);
      break;
  }
  return type.is_multi_cell() ? std::string()
                              : fmt::format("keep a second table that is clustered by {}", column.name);
}

// The hint: an index, a second table, or either.
std::string remedies(const schema::Table& table, const Restriction& restriction, bool names_partitions) {
  const std::string index = index_for(table, restriction), second = table_for(restriction, names_partitions);
  return index + (index.empty() || second.empty() ? "" : "; or ") + second;
}

}  // namespace

base::Error Restrictions::filtering_refused() const {
  std::vector<std::string> missing, key;
  bool some = false;
  for (size_t i = 0; i < partition_.size(); ++i) {
    key.push_back(table_->partition_key(i).name);
    if (partition_[i] == nullptr)
      missing.push_back(key.back());
    else
      some = true;
  }
  base::Error error(base::ErrorCode::invalid, filtering_refusal);
  if (has_index_) return error.with_hint(hint_for_indexed());
  if (some && !missing.empty())
    return error.with_hint(
        fmt::format("the partition key is ({}): also give {}", listed(key), listed(missing)));
  if (some && !names_partitions_)
    return error.with_hint(fmt::format(
        "the partition key ({}) can only be compared by = and IN, or through token()", listed(key)));
  if (!others_.empty()) {
    const auto& [column, restriction] = others_.front();
    const std::string help = remedies(*table_, *restriction, names_partitions_);
    return error.with_hint(
        help.empty() ? fmt::format("{} is not part of the primary key, and neither a key nor an index serves "
                                   "this comparison of a {}",
                                   column->name, column->type->cql_name())
                     : fmt::format("{} is not part of the primary key: {}", column->name, help));
  }
  const std::string help = remedies(*table_, *distinct(clustering_).front(), false);
  return error.with_hint(
      fmt::format("also give the partition key ({}){}{}", listed(key), help.empty() ? "" : ", or ", help));
}

// The hint for a SELECT in which some relations have an index and others have none.
std::string Restrictions::hint_for_indexed() const {
  std::vector<std::string> names, unserved;
  for (const RestrictionPtr& restriction : unkeyed_) {
    const bool serves = has_index(*table_, *restriction) || !index_for(*table_, *restriction).empty();
    for (const schema::Column* column : restriction->columns) {
      names.push_back(column->name);
      if (!serves) unserved.push_back(column->name);
    }
  }
  if (unserved.empty())
    return fmt::format(
        "no single index serves all relations; indexes USING 'sai' on each of {} can be used together",
        listed(names));
  return fmt::format(
      "no index serves this comparison of {}; with ALLOW FILTERING it is checked on the rows that the other "
      "index finds",
      listed(unserved));
}

}  // namespace sibyl::plan
