#include "plan/naming_hints.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/ascii.h"
#include "base/similar.h"
#include "plan/options/options.h"
#include "plan/terms/functions.h"
#include "types/identifier.h"
#include "types/print.h"

namespace sibyl::plan {
namespace {

enum class Kind {
  keyspace,
  table,
  column,
  type,
  function,
  index,
  property,
  strategy,
  compaction,
  strategy_option,
  increment
};

// A message is `before`, the unknown name, `after`, and perhaps more.
struct Message {
  std::string_view before, after;
  Kind kind;
};

constexpr std::array messages = {
    Message{"keyspace ", " does not exist", Kind::keyspace},
    Message{"Keyspace '", "' does not exist", Kind::keyspace},
    Message{"Keyspace '", "' doesn't exist", Kind::keyspace},
    Message{"Keyspace ", " doesn't exist", Kind::keyspace},
    Message{"table ", " does not exist", Kind::table},
    Message{"Table '", "' doesn't exist", Kind::table},
    Message{"Base table '", "' doesn't exist", Kind::table},
    Message{"Materialized view '", "' doesn't exist", Kind::table},
    Message{"Undefined column name ", " in table ", Kind::column},
    Message{"Column ", " was not found in table ", Kind::column},
    Message{"Column with name '", "' doesn't exist on table ", Kind::column},
    Message{"Unknown type ", "", Kind::type},
    Message{"Type '", "' doesn't exist", Kind::type},
    Message{"Type ", " doesn't exist", Kind::type},
    Message{"Unknown function '", "'", Kind::function},
    Message{"Unknown function ", " called", Kind::function},
    Message{"Index '", "' doesn't exist", Kind::index},
    Message{"Unknown property '", "'", Kind::property},
    Message{"Unable to find replication strategy class 'org.apache.cassandra.locator.", "'", Kind::strategy},
    Message{"Unable to find compaction strategy class 'org.apache.cassandra.db.compaction.", "'",
            Kind::compaction},
    Message{"Unrecognized strategy option {", "} passed to NetworkTopologyStrategy", Kind::strategy_option},
    Message{"Invalid operation (", ") for non counter column ", Kind::increment}};

// Names of types in other databases.
constexpr std::array<std::pair<std::string_view, std::string_view>, 20> foreign_types = {
    {{"string", "text"},        {"str", "text"},
     {"char", "text"},          {"nvarchar", "text"},
     {"json", "text"},          {"integer", "int"},
     {"long", "bigint"},        {"short", "smallint"},
     {"byte", "tinyint"},       {"bool", "boolean"},
     {"real", "float"},         {"number", "decimal"},
     {"numeric", "decimal"},    {"money", "decimal"},
     {"datetime", "timestamp"}, {"timestamptz", "timestamp"},
     {"bytea", "blob"},         {"binary", "blob"},
     {"guid", "uuid"},          {"serial", "timeuuid or uuid"}}};

constexpr std::array type_names = {
    "ascii", "bigint",  "blob",   "boolean",  "counter", "date", "decimal",   "double",   "duration",
    "float", "inet",    "int",    "smallint", "text",    "time", "timestamp", "timeuuid", "tinyint",
    "uuid",  "varchar", "varint", "list",     "set",     "map",  "tuple",     "vector",   "frozen"};

// Returns the keyspace that the statement names for its table, or else the session's.
std::string keyspace_of(const cql::Statement& statement, std::string_view otherwise) {
  const std::string named = std::visit(
      []<typename Node>(const Node& node) -> std::string {
        if constexpr (requires { node.table.keyspace; }) return node.table.keyspace;
        if constexpr (requires { node.type.keyspace; }) return node.type.keyspace;
        if constexpr (requires { node.index.keyspace; }) return node.index.keyspace;
        if constexpr (requires { node.view.keyspace; }) return node.view.keyspace;
        return {};
      },
      statement.node);
  return named.empty() ? std::string(otherwise) : named;
}

std::string unquoted(std::string_view name) {
  if (name.size() >= 2 && name.front() == '"' && name.back() == '"') name = name.substr(1, name.size() - 2);
  return std::string(name);
}

class NamingHints {
 public:
  NamingHints(const cql::Statement& statement, const NamingContext& context)
      : statement_(statement), context_(context) {}

  std::string hint(const std::string& message) const {
    for (const Message& one : messages) {
      if (!message.starts_with(one.before)) continue;
      const size_t begin = one.before.size();
      const size_t end = one.after.empty() ? message.size() : message.find(one.after, begin);
      if (end == std::string::npos) continue;
      return hint_for(one.kind, message.substr(begin, end - begin), message.substr(end + one.after.size()));
    }
    return {};
  }

 private:
  using Names = std::vector<std::string>;

  static std::string meant(std::string_view word, const Names& candidates) {
    const std::string name = base::most_similar(unquoted(word), candidates);
    return name.empty() ? name : fmt::format("did you mean {}?", types::quote_identifier(name));
  }

  static std::string meant_class(std::string_view word, const Names& candidates) {
    const std::string name = base::most_similar(word, candidates);
    return name.empty() ? name : fmt::format("did you mean '{}'?", name);
  }

  template <typename Map>
  static void add_names(const Map& map, Names& out) {
    for (const auto& [name, value] : map) out.push_back(name);
  }

  schema::KeyspacePtr keyspace_for(const std::string& name) const {
    return context_.schema.find_keyspace(name.empty() ? keyspace_of(statement_, context_.keyspace) : name);
  }

  // Splits "ks.name"; the keyspace is empty if the name is not qualified.
  static std::pair<std::string, std::string> split(std::string_view name) {
    const size_t dot = name.find('.');
    if (dot == std::string_view::npos) return {{}, unquoted(name)};
    return {unquoted(name.substr(0, dot)), unquoted(name.substr(dot + 1))};
  }

  std::string hint_for(Kind kind, const std::string& word, std::string rest) const {
    switch (kind) {
      case Kind::keyspace: {
        Names names;
        add_names(context_.schema.keyspaces, names);
        return meant(word, names);
      }
      case Kind::table:
        return table_hint(word);
      case Kind::column:
        std::erase(rest, '\'');
        return column_hint(word, rest);
      case Kind::type:
        return type_hint(word);
      case Kind::function:
        return function_hint(word);
      case Kind::index:
        return index_hint(word);
      case Kind::property: {
        const auto known = table_property_names();
        return meant(word, {known.begin(), known.end()});
      }
      case Kind::strategy:
        return meant_class(word, {"SimpleStrategy", "NetworkTopologyStrategy"});
      case Kind::compaction:
        return meant_class(word, {"SizeTieredCompactionStrategy", "LeveledCompactionStrategy",
                                  "TimeWindowCompactionStrategy", "UnifiedCompactionStrategy"});
      case Kind::strategy_option:
        if (context_.datacenter.empty()) return {};
        return fmt::format("the data center of this server is '{}'", context_.datacenter);
      case Kind::increment:
        return fmt::format(
            "only counters change by adding; read {0}, and write the new value with a condition: SET {0} = ? "
            "IF "
            "{0} = ?",
            rest);
    }
    return {};
  }

  std::string table_hint(const std::string& word) const {
    const auto [keyspace, name] = split(word);
    const schema::KeyspacePtr found = keyspace_for(keyspace);
    if (found == nullptr) return {};
    Names names;
    add_names(found->tables, names);
    add_names(found->views, names);
    return meant(name, names);
  }

  std::string column_hint(const std::string& word, const std::string& where) const {
    const auto [keyspace, name] = split(where);
    const schema::KeyspacePtr found = keyspace_for(keyspace);
    const schema::TablePtr table = found != nullptr ? found->find_table(name) : nullptr;
    if (table == nullptr) return {};
    Names names;
    for (const schema::Column& column : table->columns) names.push_back(column.name);
    return meant(word, names);
  }

  std::string type_hint(const std::string& word) const {
    const auto [keyspace, name] = split(word);
    for (const auto& [foreign, own] : foreign_types)
      if (base::equal_ignoring_case(foreign, name)) return fmt::format("in CQL it is {}", own);
    Names names(type_names.begin(), type_names.end());
    if (const schema::KeyspacePtr found = keyspace_for(keyspace)) add_names(found->types, names);
    return meant(name, names);
  }

  std::string function_hint(const std::string& word) const {
    const auto [keyspace, name] = split(word);
    Names names = FunctionRegistry::instance().names();
    std::string own(context_.keyspace);
    if (!keyspace.empty()) own = keyspace;
    if (const schema::KeyspacePtr found = context_.schema.find_keyspace(own)) {
      for (const auto& [signature, function] : found->functions) names.push_back(function->name);
      for (const auto& [signature, aggregate] : found->aggregates) names.push_back(aggregate->name);
    }
    return meant(name, names);
  }

  std::string index_hint(const std::string& word) const {
    const auto [keyspace, name] = split(word);
    const schema::KeyspacePtr found = keyspace_for(keyspace);
    if (found == nullptr) return {};
    Names names;
    for (const auto& [table_name, table] : found->tables)
      for (const schema::Index& index : table->indexes) names.push_back(index.name);
    return meant(name, names);
  }

  const cql::Statement& statement_;
  const NamingContext& context_;
};

}  // namespace

base::Error with_naming_hint(const base::Error& error, const cql::Statement& statement,
                             const NamingContext& context) {
  if (!error.hint().empty()) return error;
  std::string hint = NamingHints(statement, context).hint(error.message());
  return hint.empty() ? error : error.with_hint(std::move(hint));
}

}  // namespace sibyl::plan
