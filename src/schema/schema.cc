#include "schema/schema.h"

#include <algorithm>

#include "base/check.h"
#include "types/identifier.h"
#include "types/print_value.h"

namespace sibyl::schema {

const char* to_string(ColumnKind kind) {
  switch (kind) {
    case ColumnKind::partition_key:
      return "partition_key";
    case ColumnKind::clustering:
      return "clustering";
    case ColumnKind::static_:
      return "static";
    case ColumnKind::regular:
      return "regular";
  }
  return "regular";
}

std::string ColumnMask::text() const {
  std::string out = types::quote_identifier(keyspace) + "." + types::quote_identifier(function) + "(";
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (i > 0) out += ", ";
    out += arguments[i] ? types::to_literal(*argument_types[i], *arguments[i]) : "null";
  }
  return out + ")";
}

bool ColumnMask::operator==(const ColumnMask& other) const {
  return keyspace == other.keyspace && function == other.function && arguments == other.arguments &&
         std::equal(argument_types.begin(), argument_types.end(), other.argument_types.begin(),
                    other.argument_types.end(),
                    [](const TypePtr& left, const TypePtr& right) { return *left == *right; });
}

const Column* Table::find(std::string_view column) const {
  const Column* found = find_even_hidden(column);
  return found != nullptr && found->is_hidden ? nullptr : found;
}

const Column* Table::find_even_hidden(std::string_view column) const {
  auto found = by_name_.find(column);
  return found == by_name_.end() ? nullptr : &columns[found->second];
}

const Column* Table::find_by_id(uint32_t id) const {
  auto found = by_id_.find(id);
  return found == by_id_.end() ? nullptr : &columns[found->second];
}

namespace {

bool is_hidden_in(Compact compact, const Column& column) {
  if (compact == Compact::static_) return column.is_clustering() || column.is_regular();
  return compact == Compact::dense && column.is_regular() && column.type->kind() == types::Kind::empty;
}

}  // namespace

void Table::finish() {
  std::stable_sort(columns.begin(), columns.end(), [](const Column& left, const Column& right) {
    if (left.kind != right.kind) return left.kind < right.kind;
    return !left.is_primary_key() && left.name < right.name;
  });
  partition_key_count = clustering_count = static_count = 0;
  is_counter = has_masks = false;
  by_name_.clear();
  by_id_.clear();
  for (size_t i = 0; i < columns.size(); ++i) {
    Column& column = columns[i];
    column.position = -1;
    column.is_hidden = is_hidden_in(compact, column);
    if (column.is_partition_key()) column.position = static_cast<int>(partition_key_count++);
    if (column.is_clustering()) column.position = static_cast<int>(clustering_count++);
    if (column.is_static()) ++static_count;
    if (column.mask) has_masks = true;
    if (!column.is_primary_key() && column.type->is_counter()) is_counter = true;
    next_column_id = std::max(next_column_id, column.id + 1);
    SIBYL_CHECK(by_name_.emplace(column.name, i).second);
    SIBYL_CHECK(by_id_.emplace(column.id, i).second);
  }
  SIBYL_CHECK(partition_key_count > 0);
  // A counter table remains one when its last counter is dropped.
  if (columns.size() == partition_key_count + clustering_count)
    is_counter = std::any_of(dropped_columns.begin(), dropped_columns.end(),
                             [](const DroppedColumn& dropped) { return dropped.type->is_counter(); });
}

TypePtr UserType::as_type(bool frozen) const {
  return types::udt_of(keyspace, name, field_names, field_types, frozen);
}

const Index* Table::find_index(std::string_view index) const {
  auto found =
      std::find_if(indexes.begin(), indexes.end(), [&](const Index& one) { return one.name == index; });
  return found == indexes.end() ? nullptr : &*found;
}

std::string signature_of(std::string_view name, const std::vector<TypePtr>& argument_types) {
  std::string out(name);
  out += '(';
  for (size_t i = 0; i < argument_types.size(); ++i) {
    if (i != 0) out += ", ";
    out += argument_types[i]->cql_name();
  }
  return out + ')';
}

namespace {

// Returns the base table of a view, without the view of this name.
std::shared_ptr<Table> base_without(const Keyspace& keyspace, const Table& view) {
  const TablePtr base = keyspace.find_table(view.view->base_table);
  SIBYL_CHECK(base != nullptr);
  auto changed = std::make_shared<Table>(*base);
  std::erase_if(changed->views, [&](const TablePtr& other) { return other->name == view.name; });
  return changed;
}

}  // namespace

void Keyspace::put_view(TablePtr view) {
  auto base = base_without(*this, *view);
  auto place = std::find_if(base->views.begin(), base->views.end(),
                            [&](const TablePtr& other) { return other->name > view->name; });
  base->views.insert(place, view);
  tables.insert_or_assign(base->name, base);
  views.insert_or_assign(view->name, view);
}

void Keyspace::erase_view(std::string_view view) {
  auto found = views.find(view);
  SIBYL_CHECK(found != views.end());
  auto base = base_without(*this, *found->second);
  tables.insert_or_assign(base->name, base);
  views.erase(view);
}

TablePtr Keyspace::find_indexed_table(std::string_view index) const {
  for (const auto& [table_name, table] : tables)
    if (table->find_index(index) != nullptr) return table;
  return nullptr;
}

TablePtr Keyspace::find_table(std::string_view table) const {
  if (auto found = tables.find(table); found != tables.end()) return found->second;
  auto found = views.find(table);
  return found == views.end() ? nullptr : found->second;
}

UserTypePtr Keyspace::find_type(std::string_view type) const {
  auto found = types.find(type);
  return found == types.end() ? nullptr : found->second;
}

KeyspacePtr Snapshot::find_keyspace(std::string_view keyspace) const {
  auto found = keyspaces.find(keyspace);
  return found == keyspaces.end() ? nullptr : found->second;
}

TablePtr Snapshot::find_table(std::string_view keyspace, std::string_view table) const {
  auto found = keyspaces.find(keyspace);
  return found == keyspaces.end() ? nullptr : found->second->find_table(table);
}

}  // namespace sibyl::schema
