// Parses CREATE and ALTER of keyspaces, tables, types, indexes and views, and the properties after WITH.
#include <algorithm>
#include <charconv>
#include <utility>

#include "cql/printer.h"
#include "cql/statement_parser.h"

namespace sibyl::cql {

// --- Properties

Properties Parser::properties() {
  Properties result;
  Names names;
  do property(result, names);
  while (accept(TokenKind::kw_and_));
  return result;
}

void Parser::property(Properties& result, Names& names) {
  Property entry;
  entry.position = position();
  const Token first = token_;
  entry.name = name();
  if (!is(TokenKind::equal)) no_viable_alternative(token_, first);
  const bool map = is_ahead(1, TokenKind::left_brace);
  const Token value = ahead(1);
  advance();
  if (map) {
    entry.value = property_map();
  } else if (at_literal() || is_unreserved_keyword(kind())) {
    entry.value = property_value(entry.quoted);
  } else {
    no_viable_alternative(value, first);
  }
  if (!names.insert(entry.name).second) reject("Multiple definitions for property '" + entry.name + "'");
  result.push_back(std::move(entry));
}

std::string Parser::property_value(bool& quoted) {
  quoted = is(TokenKind::string);
  if (!at_literal()) return name();
  return std::get<Literal>(literal()->node).text;
}

std::vector<std::pair<std::string, std::string>> Parser::property_map() {
  std::vector<std::pair<std::string, std::string>> result;
  Names names;
  expect(TokenKind::left_brace);
  if (!at_expression()) {
    expect(TokenKind::right_brace);
    return result;
  }
  const auto marker_note = [](const Expression& e) {
    return std::holds_alternative<BindMarker>(e.node) ? " (bind variables are not supported in DDL queries)"
                                                      : "";
  };
  const auto is_constant = [](const Expression& e) {
    const auto* literal = std::get_if<Literal>(&e.node);
    return literal != nullptr && literal->kind != Literal::Kind::null;
  };
  do {
    const ExpressionPtr key = term();
    expect(TokenKind::colon);
    const ExpressionPtr value = term();
    if (!is_constant(*key)) reject("Invalid property name: " + print(*key) + marker_note(*key));
    if (!is_constant(*value)) {
      reject("Invalid property value: " + print(*value) + " for property: " + print(*key) +
             marker_note(*value));
    }
    const std::string& name = std::get<Literal>(key->node).text;
    if (!names.insert(name).second) reject("Multiple definition for property " + name);
    result.emplace_back(name, std::get<Literal>(value->node).text);
  } while (accept(TokenKind::comma));
  expect(TokenKind::right_brace);
  return result;
}

// --- Keyspaces

CreateKeyspace Parser::create_keyspace() {
  CreateKeyspace result;
  advance();
  result.if_not_exists = accept_if_not_exists();
  result.name = keyspace_name();
  expect(TokenKind::kw_with);
  result.properties = properties();
  return result;
}

AlterKeyspace Parser::alter_keyspace() {
  AlterKeyspace result;
  advance();
  result.if_exists = accept_if_exists();
  result.name = keyspace_name();
  expect(TokenKind::kw_with);
  result.properties = properties();
  return result;
}

// --- Tables

CreateTable Parser::create_table() {
  CreateTable result;
  advance();
  result.if_not_exists = accept_if_not_exists();
  result.table = table_name();
  expect(TokenKind::left_parenthesis);
  table_column(result);
  while (accept(TokenKind::comma)) {
    const bool column = is_name(kind()) || is(TokenKind::kw_primary);
    expects_column_ = !column;
    if (column) table_column(result);
  }
  expect(TokenKind::right_parenthesis);
  expects_column_ = false;
  if (accept(TokenKind::kw_with)) {
    Names names;
    do table_property(result, names);
    while (accept(TokenKind::kw_and_));
  }
  return result;
}

void Parser::table_column(CreateTable& result) {
  if (is(TokenKind::kw_primary)) {
    advance();
    expect(TokenKind::kw_key);
    expect(TokenKind::left_parenthesis);
    result.partition_keys.push_back(partition_key());
    while (accept(TokenKind::comma)) result.clustering_columns.push_back(name());
    expect(TokenKind::right_parenthesis);
    return;
  }
  ColumnDefinition column = added_column();
  if (accept(TokenKind::kw_primary)) {
    expect(TokenKind::kw_key);
    column.is_primary_key = true;
  }
  result.columns.push_back(std::move(column));
}

// name type [STATIC] [MASKED WITH ...]
ColumnDefinition Parser::added_column() {
  ColumnDefinition result;
  result.position = position();
  result.name = name();
  result.type = type();
  result.is_static = accept(TokenKind::kw_static_);
  if (is(TokenKind::kw_masked)) result.mask = column_mask();
  return result;
}

std::unique_ptr<ColumnMask> Parser::column_mask() {
  auto result = std::make_unique<ColumnMask>();
  const Token first = expect(TokenKind::kw_masked);
  if (!is(TokenKind::kw_with)) no_viable_alternative(token_, first);
  advance();
  if (!is_name(kind()) && !is_function_name(kind())) no_viable_alternative(token_, first);
  if (is(TokenKind::kw_default_) && !is_ahead(1, TokenKind::left_parenthesis) &&
      !is_ahead(1, TokenKind::dot)) {
    result->function.name = "mask_default";
    result->function.position = position();
    advance();
    return result;
  }
  result->function = function_name();
  const Token open = expect(TokenKind::left_parenthesis);
  if (!at_expression() && !is(TokenKind::right_parenthesis)) no_viable_alternative(token_, open);
  result->arguments = optional_expressions_until(Context::term, TokenKind::right_parenthesis);
  return result;
}

std::vector<std::string> Parser::partition_key() {
  std::vector<std::string> result;
  if (!accept(TokenKind::left_parenthesis)) {
    result.push_back(name());
    return result;
  }
  do result.push_back(name());
  while (accept(TokenKind::comma));
  expect(TokenKind::right_parenthesis);
  return result;
}

void Parser::table_property(CreateTable& result, Names& names) {
  if (is(TokenKind::kw_compact) && is_ahead(1, TokenKind::kw_storage)) {
    advance();
    advance();
    result.compact_storage = true;
  } else if (is(TokenKind::kw_clustering) && is_ahead(1, TokenKind::kw_order)) {
    for (ClusteringOrder& order : clustering_order()) result.clustering_order.push_back(std::move(order));
  } else {
    property(result.properties, names);
  }
}

std::vector<ClusteringOrder> Parser::clustering_order() {
  std::vector<ClusteringOrder> result;
  expect(TokenKind::kw_clustering);
  expect(TokenKind::kw_order);
  expect(TokenKind::kw_by);
  expect(TokenKind::left_parenthesis);
  do {
    ClusteringOrder order{name()};
    if (accept(TokenKind::kw_desc)) {
      order.descending = true;
    } else if (!accept(TokenKind::kw_asc)) {
      no_viable_alternative();
    }
    result.push_back(std::move(order));
  } while (accept(TokenKind::comma));
  expect(TokenKind::right_parenthesis);
  return result;
}

AlterTable Parser::alter_table() {
  AlterTable result;
  advance();
  result.if_exists = accept_if_exists();
  result.table = table_name();
  result.action = alter_table_action();
  return result;
}

decltype(AlterTable::action) Parser::alter_table_action() {
  switch (kind()) {
    case TokenKind::kw_alter:
      return alter_column();
    case TokenKind::kw_add:
      return add_columns();
    case TokenKind::kw_drop:
      return drop_columns();
    case TokenKind::kw_rename: {
      advance();
      AlterTable::Rename result;
      result.if_exists = accept_if_exists();
      result.names = renames();
      return result;
    }
    case TokenKind::kw_with:
      advance();
      return AlterTable::With{properties()};
    default:
      no_viable_alternative();
  }
}

// ALTER c TYPE t, ALTER [IF EXISTS] c MASKED WITH ..., ALTER [IF EXISTS] c DROP MASKED
decltype(AlterTable::action) Parser::alter_column() {
  const Token first = token_;
  advance();
  const bool if_exists = accept_if_exists();
  std::string column = column_name();
  if (is(TokenKind::kw_type) && !if_exists) {
    advance();
    return AlterTable::AlterType{std::move(column), type()};
  }
  AlterTable::Mask result{std::move(column), if_exists, nullptr};
  if (accept(TokenKind::kw_drop)) {
    expect(TokenKind::kw_masked);
  } else if (is(TokenKind::kw_masked)) {
    result.mask = column_mask();
  } else {
    no_viable_alternative(token_, if_exists ? token_ : first);
  }
  return result;
}

decltype(AlterTable::action) Parser::add_columns() {
  advance();
  AlterTable::Add result;
  result.if_not_exists = accept_if_not_exists();
  if (!accept(TokenKind::left_parenthesis)) {
    result.columns.push_back(added_column());
    return result;
  }
  do result.columns.push_back(added_column());
  while (accept(TokenKind::comma));
  expect(TokenKind::right_parenthesis);
  return result;
}

decltype(AlterTable::action) Parser::drop_columns() {
  const Token first = token_;
  advance();
  if (!is_name(kind()) && !is(TokenKind::kw_if_) && !is(TokenKind::left_parenthesis)) {
    no_viable_alternative(token_, first);
  }
  if (is(TokenKind::kw_compact) && is_ahead(1, TokenKind::kw_storage)) {
    advance();
    advance();
    return AlterTable::DropCompactStorage{};
  }
  AlterTable::Drop result;
  result.if_exists = accept_if_exists();
  if (accept(TokenKind::left_parenthesis)) {
    do result.columns.push_back(name());
    while (accept(TokenKind::comma));
    expect(TokenKind::right_parenthesis);
  } else {
    result.columns.push_back(name());
  }
  if (accept(TokenKind::kw_using_)) {
    expect(TokenKind::kw_timestamp);
    const Token token = expect(TokenKind::integer);
    const std::string_view digits = lexer_.raw(token);
    int64_t value = 0;
    if (std::from_chars(digits.data(), digits.data() + digits.size(), value).ec != std::errc()) {
      reject("Failed parsing statement: [" + std::string(lexer_.text()) +
             "] reason: NumberFormatException For input string: \"" + std::string(digits) + "\"");
    }
    result.timestamp = value;
  }
  return result;
}

std::vector<std::pair<std::string, std::string>> Parser::renames() {
  std::vector<std::pair<std::string, std::string>> result;
  do {
    std::string from = name();
    expect(TokenKind::kw_to);
    result.emplace_back(std::move(from), name());
  } while (accept(TokenKind::kw_and_));
  return result;
}

// --- Types

CreateType Parser::create_type() {
  CreateType result;
  advance();
  result.if_not_exists = accept_if_not_exists();
  result.type = user_type_name();
  expect(TokenKind::left_parenthesis);
  const auto field = [&] {
    std::string field_name = name();
    result.fields.emplace_back(std::move(field_name), type());
  };
  field();
  while (accept(TokenKind::comma)) {
    expects_column_ = !is_name(kind());
    if (!expects_column_) field();
  }
  expect(TokenKind::right_parenthesis);
  expects_column_ = false;
  return result;
}

AlterType Parser::alter_type() {
  AlterType result;
  advance();
  result.if_exists = accept_if_exists();
  result.type = user_type_name();
  if (accept(TokenKind::kw_alter)) {
    AlterType::Alter action;
    action.field = name();
    expect(TokenKind::kw_type);
    action.type = type();
    result.action = std::move(action);
  } else if (accept(TokenKind::kw_add)) {
    AlterType::Add action;
    action.if_not_exists = accept_if_not_exists();
    action.field = name();
    action.type = type();
    result.action = std::move(action);
  } else if (accept(TokenKind::kw_rename)) {
    AlterType::Rename action;
    action.if_exists = accept_if_exists();
    action.names = renames();
    result.action = std::move(action);
  } else {
    no_viable_alternative();
  }
  return result;
}

// --- Indexes and views

CreateIndex Parser::create_index() {
  CreateIndex result;
  result.custom = accept(TokenKind::kw_custom);
  expect(TokenKind::kw_index);
  result.if_not_exists = accept_if_not_exists();
  if (!is(TokenKind::kw_on)) {
    if (!is_name(kind()) && !is(TokenKind::question_mark)) mismatched("K_ON");
    result.name = name_or_refuse_marker("index");
  }
  expect(TokenKind::kw_on);
  result.table = table_name();
  expect(TokenKind::left_parenthesis);
  const bool targets = is_name(kind()) || is(TokenKind::empty_quoted_name) || is(TokenKind::kw_entries) ||
                       is(TokenKind::kw_full);
  if (targets) {
    do result.targets.push_back(index_target());
    while (accept(TokenKind::comma));
  }
  expect(TokenKind::right_parenthesis);
  if (accept(TokenKind::kw_using_)) result.using_class = expect_string();
  if (accept(TokenKind::kw_with)) result.properties = properties();
  return result;
}

IndexTarget Parser::index_target() {
  IndexTarget result;
  switch (kind()) {
    case TokenKind::kw_keys:
      result.kind = IndexTarget::Kind::keys;
      break;
    case TokenKind::kw_values:
      result.kind = IndexTarget::Kind::values;
      break;
    case TokenKind::kw_entries:
      result.kind = IndexTarget::Kind::entries;
      break;
    case TokenKind::kw_full:
      result.kind = IndexTarget::Kind::full;
      break;
    default:
      break;
  }
  // KEYS and VALUES may also be columns.
  const bool reserved = is(TokenKind::kw_entries) || is(TokenKind::kw_full);
  if (result.kind == IndexTarget::Kind::simple || (!reserved && !is_ahead(1, TokenKind::left_parenthesis))) {
    result.kind = IndexTarget::Kind::simple;
    result.column = column_name();
    return result;
  }
  advance();
  expect(TokenKind::left_parenthesis);
  result.column = column_name();
  expect(TokenKind::right_parenthesis);
  return result;
}

CreateView Parser::create_view() {
  CreateView result;
  advance();
  expect(TokenKind::kw_view);
  result.if_not_exists = accept_if_not_exists();
  result.view = table_name();
  expect(TokenKind::kw_as);
  expect(TokenKind::kw_select);
  result.select = std::make_unique<Select>();
  result.select->selectors = selectors();
  expect(TokenKind::kw_from);
  result.select->table = table_name();
  if (accept(TokenKind::kw_where)) result.select->where = where_clause();
  expect(TokenKind::kw_primary);
  expect(TokenKind::kw_key);
  expect(TokenKind::left_parenthesis);
  result.partition_key = partition_key();
  while (accept(TokenKind::comma)) result.clustering_columns.push_back(name());
  expect(TokenKind::right_parenthesis);
  if (!accept(TokenKind::kw_with)) return result;
  Names names;
  do {
    if (is(TokenKind::kw_compact) && is_ahead(1, TokenKind::kw_storage)) {
      reject("COMPACT STORAGE tables are not allowed starting with version 4.0");
    } else if (is(TokenKind::kw_clustering) && is_ahead(1, TokenKind::kw_order)) {
      for (ClusteringOrder& order : clustering_order()) result.clustering_order.push_back(std::move(order));
    } else {
      property(result.properties, names);
    }
  } while (accept(TokenKind::kw_and_));
  return result;
}

AlterView Parser::alter_view() {
  AlterView result;
  advance();
  expect(TokenKind::kw_view);
  result.if_exists = accept_if_exists();
  result.view = table_name();
  expect(TokenKind::kw_with);
  result.properties = properties();
  return result;
}

}  // namespace sibyl::cql
