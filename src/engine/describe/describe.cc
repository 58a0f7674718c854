#include "engine/describe/describe.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/ascii.h"
#include "engine/describe/functions.h"
#include "engine/describe/text.h"
#include "types/elements.h"
#include "types/identifier.h"
#include "types/value.h"

namespace sibyl::engine {
namespace {

using cql::Describe;
using execute::ResultSet;
using schema::Keyspace;
using schema::KeyspacePtr;
using types::Kind;
using types::quote_identifier;

// One row of the result. The text is generated only for the rows of the page.
struct Element {
  const Keyspace* keyspace;
  // At most one of these is set. If none is, the element is the keyspace itself.
  const schema::Table* table = nullptr;
  const schema::UserType* type = nullptr;
  const schema::Index* index = nullptr;  // of `table`
  const schema::UserFunction* function = nullptr;
  const schema::UserAggregate* aggregate = nullptr;

  std::string shown_name() const {
    if (function) return function_signature(function->name, function->argument_types);
    if (aggregate) return function_signature(aggregate->name, aggregate->argument_types);
    return quote_identifier(name());
  }
  const std::string& name() const {
    return index ? index->name : table ? table->name : type ? type->name : keyspace->name;
  }
  const char* kind() const {
    if (function || aggregate) return function ? "function" : "aggregate";
    if (index) return "index";
    if (table) return table->is_view() ? "materialized_view" : "table";
    return type ? "type" : "keyspace";
  }
  std::string text(bool with_internals) const {
    if (function) return describe_function(*function);
    if (aggregate) return describe_aggregate(*aggregate);
    if (index) return describe_index(*table, *index);
    if (table && table->is_view()) return describe_view(*table, with_internals);
    if (table) return describe_table(*table, keyspace->is_virtual, with_internals);
    return type ? describe_type(*type) : describe_keyspace(*keyspace);
  }
};
using Elements = std::vector<Element>;

// Cassandra sorts names ignoring case.
template <typename Map>
auto by_name(const Map& map) {
  std::vector<typename Map::mapped_type> out;
  for (const auto& [name, element] : map) out.push_back(element);
  std::stable_sort(out.begin(), out.end(), [](const auto& left, const auto& right) {
    return base::ascii_lower(left->name) < base::ascii_lower(right->name);
  });
  return out;
}

// Adds functions or aggregates of this name, or all if the name is empty. Overloads are sorted by their
// arguments.
template <typename Map, typename Member>
void add_functions(const Keyspace& keyspace, const Map& map, Member Element::* member,
                   const std::string& name, Elements& out) {
  std::vector<Element> found;
  for (const auto& [signature, one] : map) {
    if (!name.empty() && one->name != name) continue;
    Element element{.keyspace = &keyspace};
    element.*member = one.get();
    found.push_back(element);
  }
  std::stable_sort(found.begin(), found.end(), [&](const Element& left, const Element& right) {
    const std::string left_name = base::ascii_lower((left.*member)->name),
                      right_name = base::ascii_lower((right.*member)->name);
    return left_name != right_name ? left_name < right_name : left.shown_name() < right.shown_name();
  });
  out.insert(out.end(), found.begin(), found.end());
}

void add_functions(const Keyspace& keyspace, const std::string& name, Elements& out) {
  add_functions(keyspace, keyspace.functions, &Element::function, name, out);
}

void add_aggregates(const Keyspace& keyspace, const std::string& name, Elements& out) {
  add_functions(keyspace, keyspace.aggregates, &Element::aggregate, name, out);
}

// Adds a type after the types that it uses.
void add_type(const Keyspace& keyspace, const schema::UserType& type, std::set<std::string>& added,
              Elements& out);

void add_types_within(const Keyspace& keyspace, const types::Type& type, std::set<std::string>& added,
                      Elements& out) {
  if (type.kind() == Kind::udt) {
    if (auto found = keyspace.find_type(type.name())) add_type(keyspace, *found, added, out);
  }
  for (const types::TypePtr& parameter : type.parameters())
    add_types_within(keyspace, *parameter, added, out);
}

void add_type(const Keyspace& keyspace, const schema::UserType& type, std::set<std::string>& added,
              Elements& out) {
  if (added.contains(type.name)) return;
  for (const types::TypePtr& field : type.field_types) add_types_within(keyspace, *field, added, out);
  if (added.insert(type.name).second) out.push_back({.keyspace = &keyspace, .type = &type});
}

// Adds a table, its indexes and its views.
void add_table(const Keyspace& keyspace, const schema::Table& table, Elements& out) {
  out.push_back({.keyspace = &keyspace, .table = &table});
  std::vector<const schema::Index*> indexes;
  for (const schema::Index& index : table.indexes) indexes.push_back(&index);
  std::stable_sort(indexes.begin(), indexes.end(), [](const schema::Index* left, const schema::Index* right) {
    return base::ascii_lower(left->name) < base::ascii_lower(right->name);
  });
  for (const schema::Index* index : indexes)
    out.push_back({.keyspace = &keyspace, .table = &table, .index = index});
  std::vector<schema::TablePtr> views = table.views;
  std::stable_sort(views.begin(), views.end(), [](const auto& left, const auto& right) {
    return base::ascii_lower(left->name) < base::ascii_lower(right->name);
  });
  for (const schema::TablePtr& view : views) out.push_back({.keyspace = &keyspace, .table = view.get()});
}

void add_keyspace(const Keyspace& keyspace, bool only, Elements& out) {
  out.push_back({.keyspace = &keyspace});
  if (only) return;
  std::set<std::string> added;
  for (const auto& [name, type] : keyspace.types) add_type(keyspace, *type, added, out);
  add_functions(keyspace, {}, out);
  add_aggregates(keyspace, {}, out);
  for (const auto& table : by_name(keyspace.tables)) add_table(keyspace, *table, out);
}

class Describer {
 public:
  Describer(const Describe& statement, const std::string& keyspace, const schema::Snapshot& schema)
      : statement_(statement), session_(keyspace), schema_(schema) {}

  // Returns true if the result has the create_statement column.
  bool has_text() const {
    switch (statement_.kind) {
      case Describe::Kind::keyspaces:
      case Describe::Kind::tables:
      case Describe::Kind::types:
      case Describe::Kind::functions:
      case Describe::Kind::aggregates:
        return false;
      default:
        return true;
    }
  }

  base::Result<Elements> elements() {
    switch (statement_.kind) {
      case Describe::Kind::keyspaces:
        return all_keyspaces(
            [](const Keyspace& keyspace, Elements& out) { out.push_back({.keyspace = &keyspace}); });
      case Describe::Kind::schema:
        return all_keyspaces([this](const Keyspace& keyspace, Elements& out) {
          if (statement_.full || !keyspace.is_system) add_keyspace(keyspace, false, out);
        });
      case Describe::Kind::tables:
      case Describe::Kind::types:
      case Describe::Kind::functions:
      case Describe::Kind::aggregates:
        return listing();
      case Describe::Kind::keyspace: {
        SIBYL_ASSIGN(const Keyspace* keyspace, find(statement_.name.keyspace));
        Elements out;
        add_keyspace(*keyspace, statement_.only, out);
        return out;
      }
      case Describe::Kind::anything:
        return anything();
      default:
        return one();
    }
  }

 private:
  template <typename Add>
  Elements all_keyspaces(Add add) {
    Elements out;
    for (const KeyspacePtr& keyspace : by_name(schema_.keyspaces)) add(*keyspace, out);
    return out;
  }

  // Finds the named keyspace, or the session's if none is named.
  base::Result<const Keyspace*> find(const std::string& name) {
    const std::string& wanted = name.empty() ? session_ : name;
    if (wanted.empty()) return base::invalid("No keyspace specified and no current keyspace");
    KeyspacePtr found = schema_.find_keyspace(wanted);
    if (!found) return base::invalid(fmt::format("'{}' not found in keyspaces", wanted));
    return found.get();
  }

  void list(const Keyspace& keyspace, Elements& out) {
    if (statement_.kind == Describe::Kind::tables)
      for (const auto& table : by_name(keyspace.tables))
        out.push_back({.keyspace = &keyspace, .table = table.get()});
    if (statement_.kind == Describe::Kind::types)
      for (const auto& type : by_name(keyspace.types))
        out.push_back({.keyspace = &keyspace, .type = type.get()});
    if (statement_.kind == Describe::Kind::functions) add_functions(keyspace, {}, out);
    if (statement_.kind == Describe::Kind::aggregates) add_aggregates(keyspace, {}, out);
  }

  base::Result<Elements> listing() {
    if (session_.empty())
      return all_keyspaces([this](const Keyspace& keyspace, Elements& out) { list(keyspace, out); });
    SIBYL_ASSIGN(const Keyspace* keyspace, find(session_));
    Elements out;
    list(*keyspace, out);
    return out;
  }

  // DESCRIBE TABLE, TYPE, INDEX and so on: one element of a keyspace, by name.
  base::Result<Elements> one() {
    SIBYL_ASSIGN(const Keyspace* keyspace, find(statement_.name.keyspace));
    const std::string &name = statement_.name.name, &where = keyspace->name;
    switch (statement_.kind) {
      case Describe::Kind::table:
        if (auto table = keyspace->find_table(name); table && !table->is_view()) {
          Elements out;
          add_table(*keyspace, *table, out);
          return out;
        }
        return base::invalid(fmt::format("Table '{}' not found in keyspace '{}'", name, where));
      case Describe::Kind::type:
        if (auto type = keyspace->find_type(name))
          return Elements{{.keyspace = keyspace, .type = type.get()}};
        return base::invalid(fmt::format("User defined type '{}' not found in '{}'", name, where));
      case Describe::Kind::index:
        if (auto table = keyspace->find_indexed_table(name))
          return Elements{{.keyspace = keyspace, .table = table.get(), .index = table->find_index(name)}};
        return base::invalid(fmt::format("Table for existing index '{}' not found in '{}'", name, where));
      case Describe::Kind::view:
        if (auto view = keyspace->find_table(name); view && view->is_view())
          return Elements{{.keyspace = keyspace, .table = view.get()}};
        return base::invalid(fmt::format("Materialized view '{}' not found in '{}'", name, where));
      case Describe::Kind::function:
        if (Elements found; add_functions(*keyspace, name, found), !found.empty()) return found;
        return base::invalid(fmt::format("User defined function '{}' not found in '{}'", name, where));
      default:
        if (Elements found; add_aggregates(*keyspace, name, found), !found.empty()) return found;
        return base::invalid(fmt::format("User defined aggregate '{}' not found in '{}'", name, where));
    }
  }

  // DESCRIBE with a bare name: a keyspace, else an element of the session's keyspace.
  base::Result<Elements> anything() {
    const std::string& name = statement_.name.name;
    std::string where = statement_.name.keyspace;
    if (where.empty()) {
      if (KeyspacePtr keyspace = schema_.find_keyspace(name)) {
        Elements out;
        add_keyspace(*keyspace, false, out);
        return out;
      }
      where = session_.empty() ? name : session_;
    }
    SIBYL_ASSIGN(const Keyspace* keyspace, find(where));
    if (auto table = keyspace->find_table(name)) {
      Elements out;
      add_table(*keyspace, *table, out);
      return out;
    }
    if (auto table = keyspace->find_indexed_table(name))
      return Elements{{.keyspace = keyspace, .table = table.get(), .index = table->find_index(name)}};
    return base::invalid(fmt::format("'{}' not found in keyspace '{}'", name, where));
  }

  const Describe& statement_;
  const std::string& session_;
  const schema::Snapshot& schema_;
};

plan::ResultMetadataPtr metadata(std::vector<std::pair<const char*, types::TypePtr>> columns) {
  auto out = std::make_shared<plan::ResultMetadata>();
  for (auto& [name, type] : columns) out->columns.push_back({"system", "describe", name, std::move(type)});
  return out;
}

plan::ResultMetadataPtr element_metadata(bool has_text) {
  const types::TypePtr& text = types::scalar(Kind::text);
  static const plan::ResultMetadataPtr list =
      metadata({{"keyspace_name", text}, {"type", text}, {"name", text}});
  static const plan::ResultMetadataPtr full =
      metadata({{"keyspace_name", text}, {"type", text}, {"name", text}, {"create_statement", text}});
  return has_text ? full : list;
}

ResultSet describe_cluster(const std::string& keyspace, const schema::Snapshot& schema, const Node& node) {
  const types::TypePtr& text = types::scalar(Kind::text);
  ResultSet result;
  result.kind = ResultSet::Kind::rows;
  std::vector<std::pair<const char*, types::TypePtr>> columns = {
      {"cluster", text}, {"partitioner", text}, {"snitch", text}};
  result.rows.add(node.cluster_name);
  result.rows.add("Murmur3Partitioner");
  result.rows.add("DynamicEndpointSnitch");
  KeyspacePtr current = schema.find_keyspace(keyspace);
  if (current && !current->is_system) {
    types::TypePtr endpoints = types::list_of(text, false);
    columns.emplace_back("range_ownership", types::map_of(text, endpoints, false));
    std::string list = text_list({fmt::format("/{}:{}", node.address, storage_port)});
    result.rows.add(types::join(*columns.back().second, {BytesView(node_token), BytesView(list)}));
  }
  result.rows.end_row();
  result.metadata = metadata(std::move(columns));
  return result;
}

// The paging state is the schema's version and the number of rows returned so far.
base::Result<size_t> offset_of(const execute::Request& request, const schema::Snapshot& schema) {
  if (!request.paging_state) return size_t{0};
  base::Reader reader(*request.paging_state);
  BytesView version;
  uint64_t offset = 0;
  if (!reader.take(schema.version.size(), version) || !reader.big_endian(offset) || !reader.at_end())
    return base::invalid("Invalid paging state.");
  if (version != schema.version)
    return base::invalid(
        "The schema has changed since the previous page of the DESCRIBE statement result. Please retry the "
        "DESCRIBE "
        "statement.");
  return static_cast<size_t>(offset);
}

}  // namespace

base::Result<ResultSet> describe(const Describe& statement, const std::string& keyspace,
                                 const schema::Snapshot& schema, const Node& node,
                                 const execute::Request& request) {
  if (statement.kind == Describe::Kind::cluster) return describe_cluster(keyspace, schema, node);
  Describer describer(statement, keyspace, schema);
  SIBYL_ASSIGN(Elements elements, describer.elements());
  SIBYL_ASSIGN(size_t begin, offset_of(request, schema));
  begin = std::min(begin, elements.size());
  size_t end = elements.size();
  if (request.page_size > 0) end = std::min(end, begin + static_cast<size_t>(request.page_size));

  ResultSet result;
  result.kind = ResultSet::Kind::rows;
  result.metadata = element_metadata(describer.has_text());
  for (size_t i = begin; i < end; ++i) {
    const Element& element = elements[i];
    result.rows.add(quote_identifier(element.keyspace->name));
    result.rows.add(element.kind());
    result.rows.add(element.shown_name());
    if (describer.has_text()) result.rows.add(element.text(statement.with_internals));
    result.rows.end_row();
  }
  if (end < elements.size()) {
    Bytes state = schema.version;
    base::append_big_endian(state, static_cast<uint64_t>(end));
    result.paging_state = std::move(state);
  }
  return result;
}

}  // namespace sibyl::engine
