// Parses statements over entities: SELECT along paths, and INSERT, UPDATE and DELETE of entities and
// connections.
#include <fmt/format.h>

#include <algorithm>

#include "advisor/workload/reader.h"

namespace sibyl::advisor {
namespace {

constexpr size_t max_nodes = 16;

std::vector<std::string> split_path(std::string_view path) {
  std::vector<std::string> segments;
  size_t from = 0;
  while (from <= path.size()) {
    const size_t end = std::min(path.find('.', from), path.size());
    segments.emplace_back(path.substr(from, end - from));
    from = end + 1;
  }
  return segments;
}

}  // namespace

std::vector<std::string> WorkloadReader::member_names(size_t entity) const {
  std::vector<std::string> names;
  for (const Field& field : workload_.model.entities[entity].fields) names.push_back(field.name);
  for (const Relationship& relationship : workload_.model.relationships) {
    if (relationship.from == entity) names.push_back(relationship.role);
    if (relationship.to == entity) names.push_back(relationship.reverse_role);
  }
  return names;
}

base::Result<size_t> WorkloadReader::read_entity_name(TokenReader& reader) {
  SIBYL_ASSIGN(const Token name, reader.expect_word("the name of an entity"));
  if (const auto found = workload_.model.find_entity(name.text)) return *found;
  std::vector<std::string> names;
  for (const Entity& candidate : workload_.model.entities) names.push_back(candidate.name);
  return reader.unknown(name, "entity", name.text, names);
}

base::Result<FieldReference> WorkloadReader::resolve(TokenReader& reader, const Token& path, Graph& graph,
                                                     bool* all) {
  const Model& model = workload_.model;
  std::vector<std::string> segments = split_path(path.text);
  const size_t root = graph.nodes()[0].entity;
  if (segments.size() > 1 && segments[0] == model.entities[root].name && !find_role(model, root, segments[0]))
    segments.erase(segments.begin());
  size_t node = 0;
  for (size_t i = 0; i < segments.size(); ++i) {
    const size_t entity = graph.nodes()[node].entity;
    const bool last = i + 1 == segments.size();
    if (last && all != nullptr && segments[i] == "*") {
      *all = true;
      return FieldReference{node, 0};
    }
    if (const auto field = model.entities[entity].find_field(segments[i]); field && last)
      return FieldReference{node, *field};
    const auto step = find_role(model, entity, segments[i]);
    if (!step)
      return reader.unknown(path, fmt::format("field or role of '{}'", model.entities[entity].name),
                            segments[i], member_names(entity));
    if (const auto back = graph.nodes()[node];
        node != 0 && back.step.relationship == step->relationship && back.step.forward != step->forward)
      return reader.fail(path, fmt::format("'{}' leads back along the path", segments[i]));
    node = graph.extend(model, node, *step);
    if (graph.size() > max_nodes)
      return reader.fail(path, fmt::format("more than {} entities joined", max_nodes));
  }
  return key_of(model, graph, node);  // a role without a field denotes the key of its entity
}

base::Status WorkloadReader::resolve_all(TokenReader& reader, const Token& path, Graph& graph,
                                         std::vector<FieldReference>& fields) {
  bool all = false;
  SIBYL_ASSIGN(const FieldReference found, resolve(reader, path, graph, &all));
  const auto add = [&](FieldReference field) {
    if (std::find(fields.begin(), fields.end(), field) == fields.end()) fields.push_back(field);
  };
  if (!all) add(found);
  const size_t count = all ? workload_.model.entities[graph.nodes()[found.node].entity].fields.size() : 0;
  for (size_t i = 0; i < count; ++i) add({found.node, i});
  return {};
}

base::Result<Operand> WorkloadReader::read_operand(TokenReader& reader) {
  if (reader.peek().kind == Token::Kind::end || reader.peek().kind == Token::Kind::sign)
    return reader.expected("?, :name or a value");
  return Operand{reader.next().text};
}

base::Status WorkloadReader::read_statement(TokenReader& reader, Statement statement) {
  if (reader.take_word("SELECT")) {
    SIBYL_TRY(read_select(reader, statement));
  } else if (reader.take_word("INSERT")) {
    SIBYL_TRY(read_insert(reader, statement));
  } else if (reader.take_word("UPDATE")) {
    SIBYL_TRY(read_update(reader, statement));
  } else if (reader.take_word("DELETE")) {
    SIBYL_TRY(read_remove(reader, statement));
  } else {
    return reader.expected("an option, SELECT, INSERT, UPDATE or DELETE");
  }
  reader.take_sign(";");
  SIBYL_TRY(reader.expect_end());
  workload_.statements.push_back(std::move(statement));
  return {};
}

base::Status WorkloadReader::read_select(TokenReader& reader, Statement& statement) {
  statement.kind = StatementKind::select;
  std::vector<Token> paths;
  do {
    SIBYL_ASSIGN(Token path, reader.expect_word("a field, such as items.name or items.*"));
    paths.push_back(std::move(path));
  } while (reader.take_sign(","));
  SIBYL_TRY(reader.expect_keyword("FROM"));
  SIBYL_ASSIGN(const size_t entity, read_entity_name(reader));
  statement.graph = Graph(entity);
  for (const Token& path : paths) SIBYL_TRY(resolve_all(reader, path, statement.graph, statement.select));
  if (reader.take_word("WHERE")) SIBYL_TRY(read_where(reader, statement));
  if (reader.take_word("ORDER")) SIBYL_TRY(read_order(reader, statement));
  if (reader.take_word("LIMIT")) {
    const Token at = reader.peek();
    SIBYL_ASSIGN(const Token limit, reader.expect_word("a number of rows"));
    statement.limit = read_number(limit.text);
    if (!statement.limit || *statement.limit < 1) return reader.fail(at, "expected a number of rows");
  }
  return {};
}

base::Status WorkloadReader::read_where(TokenReader& reader, Statement& statement) {
  do {
    SIBYL_ASSIGN(const Token path, reader.expect_word("a field"));
    Predicate predicate;
    SIBYL_ASSIGN(predicate.field, resolve(reader, path, statement.graph));
    if (reader.take_sign("=")) {
      predicate.comparison = Comparison::equal;
    } else if (reader.take_sign("<")) {
      predicate.comparison = Comparison::less;
    } else if (reader.take_sign("<=")) {
      predicate.comparison = Comparison::less_or_equal;
    } else if (reader.take_sign(">")) {
      predicate.comparison = Comparison::greater;
    } else if (reader.take_sign(">=")) {
      predicate.comparison = Comparison::greater_or_equal;
    } else {
      return reader.expected("=, <, <=, > or >=");
    }
    SIBYL_ASSIGN(predicate.value, read_operand(reader));
    statement.where.push_back(std::move(predicate));
  } while (reader.take_word("AND"));
  return {};
}

base::Status WorkloadReader::read_order(TokenReader& reader, Statement& statement) {
  SIBYL_TRY(reader.expect_keyword("BY"));
  do {
    SIBYL_ASSIGN(const Token path, reader.expect_word("a field"));
    OrderTerm term;
    SIBYL_ASSIGN(term.field, resolve(reader, path, statement.graph));
    if (reader.take_word("DESC")) {
      term.descending = true;
    } else {
      reader.take_word("ASC");
    }
    statement.order.push_back(term);
  } while (reader.take_sign(","));
  return {};
}

// A field gets a value, or a role gets the key of the entity to be connected with.
base::Status WorkloadReader::set_column(TokenReader& reader, const Token& column, Operand value,
                                        Statement& statement) {
  const Model& model = workload_.model;
  const Entity& entity = model.entities[statement.entity()];
  if (const auto field = entity.find_field(column.text)) {
    if (*field == entity.key) {
      if (statement.kind == StatementKind::update) return reader.fail(column, "a key cannot be changed");
      statement.key = std::move(value);
      return {};
    }
    if (entity.fields[*field].is_counter())
      return reader.fail(column,
                         fmt::format("'{0}' is a counter: it starts at 0, and changes only by UPDATE {1} "
                                     "SET {0} = {0} + …",
                                     column.text, entity.name));
    statement.set.push_back({*field, std::move(value)});
    return {};
  }
  const auto step = find_role(model, statement.entity(), column.text);
  if (!step)
    return reader.unknown(column, fmt::format("field or role of '{}'", entity.name), column.text,
                          member_names(statement.entity()));
  statement.connections.push_back({*step, std::move(value), false});
  return {};
}

base::Status WorkloadReader::read_insert(TokenReader& reader, Statement& statement) {
  statement.kind = StatementKind::insert;
  SIBYL_TRY(reader.expect_keyword("INTO"));
  const Token at = reader.peek();
  SIBYL_ASSIGN(const size_t entity, read_entity_name(reader));
  statement.graph = Graph(entity);
  std::vector<Token> columns;
  SIBYL_TRY(reader.expect_sign("("));
  do {
    SIBYL_ASSIGN(Token column, reader.expect_word("a field or role"));
    columns.push_back(std::move(column));
  } while (reader.take_sign(","));
  SIBYL_TRY(reader.expect_sign(")"));
  SIBYL_TRY(reader.expect_keyword("VALUES"));
  SIBYL_TRY(reader.expect_sign("("));
  for (size_t i = 0; i < columns.size(); ++i) {
    if (i > 0) SIBYL_TRY(reader.expect_sign(","));
    SIBYL_ASSIGN(Operand value, read_operand(reader));
    SIBYL_TRY(set_column(reader, columns[i], std::move(value), statement));
  }
  SIBYL_TRY(reader.expect_sign(")"));
  if (statement.key.text.empty())
    return reader.fail(
        at, fmt::format("INSERT must set the key '{}'",
                        workload_.model.entities[entity].fields[workload_.model.entities[entity].key].name));
  return {};
}

base::Status WorkloadReader::read_assignment(TokenReader& reader, Statement& statement) {
  SIBYL_ASSIGN(const Token column, reader.expect_word("a field or role"));
  SIBYL_TRY(reader.expect_sign("="));
  if (!reader.is_word(column.text)) {
    SIBYL_ASSIGN(Operand value, read_operand(reader));
    return set_column(reader, column, std::move(value), statement);
  }
  // For a role with many entities: role = role + {key} connects, role = role - {key} disconnects. For a
  // counter: counter = counter + n.
  reader.next();
  const bool disconnect = reader.is_sign("-");
  if (!disconnect && !reader.is_sign("+")) return reader.expected("'+' or '-'");
  reader.next();
  const Entity& entity = workload_.model.entities[statement.entity()];
  if (const auto field = entity.find_field(column.text); field && entity.fields[*field].is_counter()) {
    SIBYL_ASSIGN(Operand value, read_operand(reader));
    statement.set.push_back(
        {*field, std::move(value), disconnect ? Assignment::Kind::subtract : Assignment::Kind::add});
    return {};
  }
  SIBYL_TRY(reader.expect_sign("{"));
  SIBYL_ASSIGN(Operand value, read_operand(reader));
  SIBYL_TRY(reader.expect_sign("}"));
  const auto step = find_role(workload_.model, statement.entity(), column.text);
  if (!step || to_one(workload_.model, *step))
    return reader.fail(column, fmt::format("'{}' is not a role that leads to many", column.text));
  statement.connections.push_back({*step, std::move(value), disconnect});
  return {};
}

base::Status WorkloadReader::read_update(TokenReader& reader, Statement& statement) {
  statement.kind = StatementKind::update;
  SIBYL_ASSIGN(const size_t entity, read_entity_name(reader));
  statement.graph = Graph(entity);
  SIBYL_TRY(reader.expect_keyword("SET"));
  do {
    SIBYL_TRY(read_assignment(reader, statement));
  } while (reader.take_sign(","));
  return read_key(reader, statement);
}

base::Status WorkloadReader::read_remove(TokenReader& reader, Statement& statement) {
  statement.kind = StatementKind::remove;
  SIBYL_TRY(reader.expect_keyword("FROM"));
  SIBYL_ASSIGN(const size_t entity, read_entity_name(reader));
  statement.graph = Graph(entity);
  return read_key(reader, statement);
}

base::Status WorkloadReader::read_key(TokenReader& reader, Statement& statement) {
  SIBYL_TRY(reader.expect_keyword("WHERE"));
  const Token at = reader.peek();
  SIBYL_ASSIGN(const Token path, reader.expect_word("the entity's key"));
  Graph graph = statement.graph;
  SIBYL_ASSIGN(const FieldReference field, resolve(reader, path, graph));
  if (field != key_of(workload_.model, statement.graph, 0) || graph.size() != 1)
    return reader.fail(at, "a change must identify the entity by its key only: WHERE key = ?");
  SIBYL_TRY(reader.expect_sign("="));
  SIBYL_ASSIGN(statement.key, read_operand(reader));
  return {};
}

}  // namespace sibyl::advisor
