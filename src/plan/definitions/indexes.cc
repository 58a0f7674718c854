// CREATE INDEX and DROP INDEX.
#include "plan/definitions/indexes.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/ascii.h"
#include "plan/definitions/draft.h"
#include "plan/indexes/index_options.h"
#include "plan/options/options.h"
#include "plan/terms/existing_column.h"

namespace sibyl::plan {

using base::ErrorCode;
using base::invalid;
using schema::Change;
using schema::Index;
using Target = schema::Index::Target;
using types::Kind;

namespace {

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}
bool is_word(std::string_view name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) { return is_word(c); });
}

bool equal_without_case(std::string_view left, std::string_view right) {
  return std::equal(left.begin(), left.end(), right.begin(), right.end(), [](char a, char b) {
    const auto low = [](char c) { return base::ascii_lower(c); };
    return low(a) == low(b);
  });
}

Target written_target(cql::IndexTarget::Kind kind) {
  switch (kind) {
    case cql::IndexTarget::Kind::simple:
      return Target::simple;
    case cql::IndexTarget::Kind::keys:
      return Target::keys;
    case cql::IndexTarget::Kind::values:
      return Target::values;
    case cql::IndexTarget::Kind::entries:
      return Target::entries;
    case cql::IndexTarget::Kind::full:
      return Target::full;
  }
  return Target::simple;
}

struct BoundTarget {
  const schema::Column* column;
  Target target;
};

// An index on a collection indexes its values by default.
base::Result<std::vector<BoundTarget>> bind_targets(const cql::CreateIndex& statement,
                                                    const schema::Table& table) {
  std::vector<BoundTarget> targets;
  for (const cql::IndexTarget& written : statement.targets) {
    SIBYL_ASSIGN(const schema::Column* column, existing_column(table, written.column));
    const Target target = written_target(written.kind);
    targets.push_back(
        {column, target == Target::simple && column->type->is_collection() ? Target::values : target});
  }
  return targets;
}

base::Status check_durations(const types::Type& type) {
  if (!type.references(Kind::duration)) return {};
  if (type.is_collection())
    return invalid("Secondary indexes are not supported on collections containing durations");
  if (type.kind() == Kind::tuple)
    return invalid("Secondary indexes are not supported on tuples containing durations");
  if (type.kind() == Kind::udt)
    return invalid("Secondary indexes are not supported on UDTs containing durations");
  return invalid("Secondary indexes are not supported on duration columns");
}

base::Status check_target(const schema::Table& table, bool is_custom, const BoundTarget& bound) {
  const schema::Column& column = *bound.column;
  const types::Type& type = *column.type;
  const std::string& name = column.name;
  const bool is_frozen_collection = type.is_collection() && !type.is_multi_cell();
  if (is_custom && !is_word(name))
    return invalid(fmt::format("Column '{}' contains non-alphanumeric-underscore characters", name));
  SIBYL_TRY(check_durations(type));
  if (table.is_compact() && column.is_primary_key())
    return invalid("Secondary indexes are not supported on PRIMARY KEY columns in COMPACT STORAGE tables");
  if (table.is_compact() && column.is_regular())
    return invalid("Secondary indexes are not supported on compact value column of COMPACT STORAGE tables");
  if (column.is_partition_key() && table.partition_key_count == 1)
    return invalid(fmt::format("Cannot create secondary index on the only partition key column {}", name));
  if (is_frozen_collection && bound.target != Target::full)
    return invalid(
        fmt::format("Cannot create {}() index on frozen column {}. Frozen collections are immutable and must "
                    "be fully indexed by using the '{}' modifier",
                    target_name(bound.target), name, target_text(Target::full, name)));
  if (!is_frozen_collection && bound.target == Target::full)
    return invalid("full() indexes can only be created on frozen collections");
  if (!type.is_collection() && bound.target != Target::simple)
    return invalid(
        fmt::format("Cannot create {}() index on {}. Non-collection columns only support simple indexes",
                    target_name(bound.target), name));
  const bool needs_map = bound.target == Target::keys || bound.target == Target::entries;
  if (needs_map && !(type.kind() == Kind::map && type.is_multi_cell()))
    return invalid(fmt::format("Cannot create index on {} of column {} with non-map type",
                               target_name(bound.target), name));
  if (type.kind() == Kind::udt && type.is_multi_cell())
    return invalid(fmt::format("Cannot create index on non-frozen UDT column {}", name));
  return {};
}

base::Status check_targets(const schema::Table& table, bool is_custom,
                           const std::vector<BoundTarget>& targets) {
  if (targets.empty() && !is_custom)
    return invalid("Only CUSTOM indexes can be created without specifying a target column");
  if (targets.size() > 1) {
    if (!is_custom) return invalid("Only CUSTOM indexes support multiple columns");
    std::set<const schema::Column*> seen;
    for (const BoundTarget& target : targets)
      if (!seen.insert(target.column).second)
        return invalid(fmt::format("Duplicate column '{}' in index target list", target.column->name));
  }
  for (const BoundTarget& target : targets) SIBYL_TRY(check_target(table, is_custom, target));
  return {};
}

// Makes a name such as t_c_idx, with a number if another index has that name.
std::string make_name(const schema::Keyspace& keyspace, const schema::Table& table,
                      const std::vector<BoundTarget>& targets) {
  const std::string whole = targets.size() == 1
                                ? fmt::format("{}_{}_idx", table.name, targets[0].column->name)
                                : table.name + "_idx";
  std::string base;
  for (const char c : whole)
    if (is_word(c)) base.push_back(c);
  std::string name = base;
  for (int i = 1; keyspace.find_indexed_table(name) != nullptr; ++i) name = fmt::format("{}_{}", base, i);
  return name;
}

// USING and WITH OPTIONS, checked in Cassandra's order.
struct IndexAttributes {
  bool is_custom = false;
  std::string class_name;
  OptionMap options;

  static base::Result<IndexAttributes> of(const cql::CreateIndex& statement) {
    IndexAttributes out;
    constexpr std::string_view regular = "legacy_local_table";
    out.class_name = statement.using_class.empty() ? std::string(regular) : statement.using_class;
    out.is_custom = statement.custom || !equal_without_case(out.class_name, regular);
    SIBYL_ASSIGN(const PropertySet properties, PropertySet::of(statement.properties));
    SIBYL_TRY(properties.check_known({"options"}));
    if (!out.is_custom && !statement.properties.empty())
      return invalid("Cannot specify options for a non-CUSTOM index");
    SIBYL_ASSIGN(const std::optional<OptionMap> options, properties.map("options"));
    if (options) out.options = *options;
    for (const char* reserved : {schema::index_class_option, schema::index_target_option})
      if (out.options.contains(reserved))
        return invalid(fmt::format("Cannot specify {} as a CUSTOM option", reserved));
    return out;
  }
};

base::Status check_class(const std::string& name) {
  if (schema::index_class_by_name(name)) return {};
  // Cassandra loads the named Java class. The classes of java.lang exist but are not indexes.
  if (name.starts_with("java.lang."))
    return base::fail(ErrorCode::config,
                      fmt::format("Invalid custom indexer class '{}': must extend or implement "
                                  "org.apache.cassandra.index.Index",
                                  name));
  return base::fail(
      base::Error(ErrorCode::config, fmt::format("Unable to find custom indexer class '{}'", name))
          .with_hint("use the class 'sai' or 'org.apache.cassandra.index.sasi.SASIIndex', or "
                     "CREATE INDEX without a class"));
}

void add_index(schema::Table& table, Index index) {
  const auto place = std::find_if(table.indexes.begin(), table.indexes.end(),
                                  [&](const Index& other) { return other.name > index.name; });
  table.indexes.insert(place, std::move(index));
}

const Index* find_equal(const schema::Table& table, const Index& index) {
  for (const Index& other : table.indexes)
    if (other.is_custom == index.is_custom && other.options == index.options) return &other;
  return nullptr;
}

Index make_index(const IndexAttributes& attributes, const std::vector<BoundTarget>& targets,
                 std::string name) {
  Index index;
  index.name = std::move(name);
  index.is_custom = attributes.is_custom;
  if (index.is_custom) {
    index.options = attributes.options;
    index.options[schema::index_class_option] = attributes.class_name;
  }
  std::string text;
  for (const BoundTarget& target : targets)
    text += (text.empty() ? "" : ", ") + target_text(target.target, target.column->name);
  index.options[schema::index_target_option] = std::move(text);
  if (!targets.empty()) {
    index.column_id = targets[0].column->id;
    index.target = targets[0].target;
  }
  return index;
}

base::Status check_index(const schema::Table& table, const Index& index, size_t targets,
                         std::vector<std::string>& warnings) {
  if (!is_word(index.name)) return base::fail(ErrorCode::config, "Illegal index name " + index.name);
  if (!index.is_custom) return {};
  SIBYL_TRY(check_class(index.options.at(schema::index_class_option)));
  if (schema::class_of(index) == schema::IndexClass::attached)
    return check_attached_index(table, index, targets, warnings);
  return check_sasi_index(table, index, targets, warnings);
}

}  // namespace

base::Result<DefinitionResult> define_index(const cql::CreateIndex& statement, Draft& draft) {
  SIBYL_ASSIGN(const std::string keyspace_name, draft.keyspace_name(statement.table));
  const std::string& table_name = statement.table.name;
  SIBYL_TRY(draft.check_may_change(keyspace_name, "ALTER",
                                   fmt::format("<table {}.{}>", keyspace_name, table_name)));
  SIBYL_ASSIGN(const IndexAttributes attributes, IndexAttributes::of(statement));
  const schema::KeyspacePtr old = draft.schema().find_keyspace(keyspace_name);
  if (!old) return invalid(fmt::format("Keyspace '{}' doesn't exist", keyspace_name));
  const schema::TablePtr old_table = old->find_table(table_name);
  if (!old_table) return invalid(fmt::format("Table '{}' doesn't exist", table_name));
  if (!statement.name.empty() && old->find_indexed_table(statement.name) != nullptr) {
    if (statement.if_not_exists) return draft.unchanged();
    return invalid(fmt::format("Index '{}' already exists", statement.name));
  }
  if (old_table->is_counter) return invalid("Secondary indexes on counter tables aren't supported");
  if (old_table->is_view()) return invalid("Secondary indexes on materialized views aren't supported");
  SIBYL_ASSIGN(const std::vector<BoundTarget> targets, bind_targets(statement, *old_table));
  SIBYL_TRY(check_targets(*old_table, attributes.is_custom, targets));

  Index index = make_index(attributes, targets,
                           statement.name.empty() ? make_name(*old, *old_table, targets) : statement.name);
  if (const Index* equal = find_equal(*old_table, index)) {
    if (statement.if_not_exists) return draft.unchanged();
    return invalid(fmt::format("Index {} is a duplicate of existing index {}", index.name, equal->name));
  }
  SIBYL_TRY(check_index(*old_table, index, targets.size(), draft.warnings));
  index.storage_id = draft.new_storage_id();

  auto table = std::make_shared<schema::Table>(*old_table);
  add_index(*table, std::move(index));
  auto keyspace = draft.change(*old);
  keyspace->tables.insert_or_assign(table_name, std::move(table));
  return draft.with(std::move(keyspace),
                    change_of(Change::Kind::updated, Change::Target::table, keyspace_name, table_name));
}

base::Result<DefinitionResult> define_index(const cql::DropIndex& statement, Draft& draft) {
  SIBYL_ASSIGN(const std::string keyspace_name, draft.keyspace_name(statement.index));
  const std::string& name = statement.index.name;
  const schema::KeyspacePtr old = draft.schema().find_keyspace(keyspace_name);
  const schema::TablePtr old_table = old ? old->find_indexed_table(name) : nullptr;
  SIBYL_TRY(draft.check_may_change(
      keyspace_name, "ALTER",
      fmt::format("<table {}.{}>", keyspace_name, old_table ? old_table->name : name)));
  if (!old_table) {
    if (statement.if_exists) return draft.unchanged();
    return invalid(fmt::format("Index '{}.{}' doesn't exist'", keyspace_name, name));
  }
  auto table = std::make_shared<schema::Table>(*old_table);
  draft.dropped_storage_ids.push_back(table->find_index(name)->storage_id);
  std::erase_if(table->indexes, [&](const Index& index) { return index.name == name; });
  const std::string table_name = table->name;
  auto keyspace = draft.change(*old);
  keyspace->tables.insert_or_assign(table_name, std::move(table));
  return draft.with(std::move(keyspace),
                    change_of(Change::Kind::updated, Change::Target::table, keyspace_name, table_name));
}

std::string dependent_indexes(const schema::Table& table, const schema::Column& column) {
  std::string names;
  for (const Index& index : table.indexes)
    if (index.column_id == column.id) names += (names.empty() ? "" : ", ") + index.name;
  return names;
}

}  // namespace sibyl::plan
