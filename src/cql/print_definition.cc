#include "cql/lexer.h"
#include "cql/writer.h"

namespace sibyl::cql {
namespace {

// True if a property's value needs no quotes: one literal, or an unreserved keyword.
bool needs_no_quotes(std::string_view text) {
  if (find_invalid_utf8(text) != std::string_view::npos) return false;
  Lexer lexer(text);
  const Token token = lexer.next_raw();
  return token.length == text.size() && (is_bare_constant(token.kind) || is_unreserved_keyword(token.kind));
}

}  // namespace

// --- Pieces

void Writer::if_exists(bool written) {
  if (written) put("IF EXISTS ");
}

void Writer::if_not_exists(bool written) {
  if (written) put("IF NOT EXISTS ");
}

void Writer::property_map(const std::vector<std::pair<std::string, std::string>>& map) {
  put("{");
  separated(map, ", ", [this](const auto& entry) {
    string(entry.first);
    put(": ");
    string(entry.second);
  });
  put("}");
}

void Writer::property(const Property& property) {
  name(property.name);
  put(" = ");
  if (const auto* text = std::get_if<std::string>(&property.value)) {
    !property.quoted&& needs_no_quotes(*text) ? static_cast<void>(put(*text)) : string(*text);
  } else {
    property_map(std::get<1>(property.value));
  }
}

void Writer::properties(const Properties& properties) {
  separated(properties, " AND ", [this](const Property& item) { property(item); });
}

void Writer::mask(const ColumnMask& mask) {
  put("MASKED WITH ");
  function_name(mask.function);
  put("(");
  expressions(mask.arguments);
  put(")");
}

void Writer::column(const ColumnDefinition& column) {
  name(column.name);
  put(" ");
  type(column.type);
  if (column.is_static) put(" STATIC");
  if (column.mask) {
    put(" ");
    mask(*column.mask);
  }
  if (column.is_primary_key) put(" PRIMARY KEY");
}

void Writer::primary_key(const std::vector<std::string>& partition,
                         const std::vector<std::string>& clustering) {
  put("PRIMARY KEY (");
  if (partition.size() > 1) put("(");
  names(partition);
  if (partition.size() > 1) put(")");
  for (const std::string& column : clustering) {
    put(", ");
    name(column);
  }
  put(")");
}

void Writer::clustering_order(const std::vector<ClusteringOrder>& order) {
  put("CLUSTERING ORDER BY (");
  separated(order, ", ", [this](const ClusteringOrder& item) {
    name(item.column);
    put(item.descending ? " DESC" : " ASC");
  });
  put(")");
}

void Writer::renames(const std::vector<std::pair<std::string, std::string>>& names) {
  separated(names, " AND ", [this](const auto& item) {
    name(item.first);
    put(" TO ");
    name(item.second);
  });
}

void Writer::fields(const std::vector<std::pair<std::string, RawType>>& fields) {
  put("(");
  separated(fields, ", ", [this](const auto& field) {
    name(field.first);
    put(" ");
    type(field.second);
  });
  put(")");
}

// --- Keyspaces

void Writer::node(const CreateKeyspace& node) {
  put("CREATE KEYSPACE ");
  if_not_exists(node.if_not_exists);
  name(node.name);
  put(" WITH ");
  properties(node.properties);
}

void Writer::node(const AlterKeyspace& node) {
  put("ALTER KEYSPACE ");
  if_exists(node.if_exists);
  name(node.name);
  put(" WITH ");
  properties(node.properties);
}

void Writer::node(const DropKeyspace& node) {
  put("DROP KEYSPACE ");
  if_exists(node.if_exists);
  name(node.name);
}

// --- Tables

void Writer::node(const CreateTable& node) {
  put("CREATE TABLE ");
  if_not_exists(node.if_not_exists);
  qualified(node.table);
  put(" (");
  separated(node.columns, ", ", [this](const ColumnDefinition& item) { column(item); });
  bool first = node.columns.empty();
  for (const std::vector<std::string>& key : node.partition_keys) {
    if (!first) put(", ");
    first = false;
    // The last clause has all clustering columns.
    const bool last = &key == &node.partition_keys.back();
    primary_key(key, last ? node.clustering_columns : std::vector<std::string>());
  }
  put(")");
  const char* glue = " WITH ";
  const auto next = [&] {
    put(glue);
    glue = " AND ";
  };
  if (node.compact_storage) {
    next();
    put("COMPACT STORAGE");
  }
  if (!node.clustering_order.empty()) {
    next();
    clustering_order(node.clustering_order);
  }
  if (!node.properties.empty()) {
    next();
    properties(node.properties);
  }
}

void Writer::node(const AlterTable& node) {
  put("ALTER TABLE ");
  if_exists(node.if_exists);
  qualified(node.table);
  put(" ");
  std::visit([this](const auto& inner) { action(inner); }, node.action);
}

void Writer::action(const AlterTable::Add& action) {
  put("ADD ");
  if_not_exists(action.if_not_exists);
  const bool several = action.columns.size() > 1;
  if (several) put("(");
  separated(action.columns, ", ", [this](const ColumnDefinition& item) { column(item); });
  if (several) put(")");
}

void Writer::action(const AlterTable::Drop& action) {
  put("DROP ");
  if_exists(action.if_exists);
  const bool several = action.columns.size() > 1;
  if (several) put("(");
  names(action.columns);
  if (several) put(")");
  if (action.timestamp) put(" USING TIMESTAMP ").put(std::to_string(*action.timestamp));
}

void Writer::action(const AlterTable::Rename& action) {
  put("RENAME ");
  if_exists(action.if_exists);
  renames(action.names);
}

void Writer::action(const AlterTable::AlterType& action) {
  put("ALTER ");
  name(action.column);
  put(" TYPE ");
  type(action.type);
}

void Writer::action(const AlterTable::Mask& action) {
  put("ALTER ");
  if_exists(action.if_exists);
  name(action.column);
  put(" ");
  if (action.mask) {
    mask(*action.mask);
  } else {
    put("DROP MASKED");
  }
}

void Writer::action(const AlterTable::With& action) {
  put("WITH ");
  properties(action.properties);
}

void Writer::action(const AlterTable::DropCompactStorage&) {
  put("DROP COMPACT STORAGE");
}

void Writer::node(const DropTable& node) {
  put("DROP TABLE ");
  if_exists(node.if_exists);
  qualified(node.table);
}

// --- Types

void Writer::node(const CreateType& node) {
  put("CREATE TYPE ");
  if_not_exists(node.if_not_exists);
  user_type_name(node.type);
  put(" ");
  fields(node.fields);
}

void Writer::node(const AlterType& node) {
  put("ALTER TYPE ");
  if_exists(node.if_exists);
  user_type_name(node.type);
  put(" ");
  std::visit([this](const auto& inner) { action(inner); }, node.action);
}

void Writer::action(const AlterType::Add& action) {
  put("ADD ");
  if_not_exists(action.if_not_exists);
  name(action.field);
  put(" ");
  type(action.type);
}

void Writer::action(const AlterType::Rename& action) {
  put("RENAME ");
  if_exists(action.if_exists);
  renames(action.names);
}

void Writer::action(const AlterType::Alter& action) {
  put("ALTER ");
  name(action.field);
  put(" TYPE ");
  type(action.type);
}

void Writer::node(const DropType& node) {
  put("DROP TYPE ");
  if_exists(node.if_exists);
  user_type_name(node.type);
}

// --- Indexes and views

void Writer::node(const CreateIndex& node) {
  put(node.custom ? "CREATE CUSTOM INDEX " : "CREATE INDEX ");
  if_not_exists(node.if_not_exists);
  if (!node.name.empty()) {
    name(node.name);
    put(" ");
  }
  put("ON ");
  qualified(node.table);
  put(" (");
  separated(node.targets, ", ", [this](const IndexTarget& target) {
    static constexpr const char* functions[] = {"", "KEYS(", "VALUES(", "ENTRIES(", "FULL("};
    put(functions[static_cast<size_t>(target.kind)]);
    name(target.column);
    if (target.kind != IndexTarget::Kind::simple) put(")");
  });
  put(")");
  if (!node.using_class.empty()) {
    put(" USING ");
    string(node.using_class);
  }
  if (!node.properties.empty()) {
    put(" WITH ");
    properties(node.properties);
  }
}

void Writer::node(const DropIndex& node) {
  put("DROP INDEX ");
  if_exists(node.if_exists);
  qualified(node.index);
}

void Writer::node(const CreateView& node) {
  put("CREATE MATERIALIZED VIEW ");
  if_not_exists(node.if_not_exists);
  qualified(node.view);
  put(" AS ");
  this->node(*node.select);
  put(" ");
  primary_key(node.partition_key, node.clustering_columns);
  if (!node.clustering_order.empty()) {
    put(" WITH ");
    clustering_order(node.clustering_order);
  }
  if (!node.properties.empty()) {
    put(node.clustering_order.empty() ? " WITH " : " AND ");
    properties(node.properties);
  }
}

void Writer::node(const AlterView& node) {
  put("ALTER MATERIALIZED VIEW ");
  if_exists(node.if_exists);
  qualified(node.view);
  put(" WITH ");
  properties(node.properties);
}

void Writer::node(const DropView& node) {
  put("DROP MATERIALIZED VIEW ");
  if_exists(node.if_exists);
  qualified(node.view);
}

// --- Functions, aggregates, triggers

void Writer::node(const CreateFunction& node) {
  put("CREATE ");
  if (node.or_replace) put("OR REPLACE ");
  put("FUNCTION ");
  if_not_exists(node.if_not_exists);
  function_name(node.function);
  put(" ");
  fields(node.arguments);
  put(node.called_on_null_input ? " CALLED" : " RETURNS NULL").put(" ON NULL INPUT RETURNS ");
  type(node.return_type);
  put(" LANGUAGE ").put(node.language).put(" AS ");
  const bool dollars = node.body.find("$$") == std::string::npos && !node.body.ends_with('$');
  dollars ? static_cast<void>(put("$$").put(node.body).put("$$")) : string(node.body);
}

void Writer::node(const DropFunction& node) {
  put("DROP FUNCTION ");
  if_exists(node.if_exists);
  function_name(node.function);
  if (!node.argument_types) return;
  put("(");
  types(*node.argument_types);
  put(")");
}

void Writer::node(const CreateAggregate& node) {
  put("CREATE ");
  if (node.or_replace) put("OR REPLACE ");
  put("AGGREGATE ");
  if_not_exists(node.if_not_exists);
  function_name(node.aggregate);
  put("(");
  types(node.argument_types);
  put(") SFUNC ");
  plain_function_name(node.state_function);
  put(" STYPE ");
  type(node.state_type);
  if (!node.final_function.empty()) {
    put(" FINALFUNC ");
    plain_function_name(node.final_function);
  }
  if (node.initial_condition) {
    put(" INITCOND ");
    expression(*node.initial_condition);
  }
}

void Writer::node(const DropAggregate& node) {
  put("DROP AGGREGATE ");
  if_exists(node.if_exists);
  function_name(node.aggregate);
  if (!node.argument_types) return;
  put("(");
  types(*node.argument_types);
  put(")");
}

void Writer::node(const CreateTrigger& node) {
  put("CREATE TRIGGER ");
  if_not_exists(node.if_not_exists);
  name(node.name);
  put(" ON ");
  qualified(node.table);
  put(" USING ");
  string(node.class_name);
}

void Writer::node(const DropTrigger& node) {
  put("DROP TRIGGER ");
  if_exists(node.if_exists);
  name(node.name);
  put(" ON ");
  qualified(node.table);
}

}  // namespace sibyl::cql
