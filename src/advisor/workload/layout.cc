// Parses `@layout` and `@plan`: stated schemas to compare with.
#include <fmt/format.h>

#include <algorithm>

#include "advisor/workload/reader.h"

namespace sibyl::advisor {

// @layout SCHEMA TABLE FROM ENTITY KEY ((a, b), c DESC) VALUES (d, e.*)
base::Status WorkloadReader::read_layout(TokenReader& reader) {
  Layout layout;
  layout.line = reader.peek().line;
  SIBYL_ASSIGN(const Token schema, reader.expect_word("the schema's name"));
  SIBYL_ASSIGN(const Token name, reader.expect_word("the table's name"));
  layout.schema = schema.text;
  layout.name = name.text;
  for (const Layout& other : workload_.layouts) {
    if (other.schema == layout.schema && other.name == layout.name)
      return reader.fail(name, fmt::format("schema '{}' already has a table '{}'", schema.text, name.text));
  }
  SIBYL_TRY(reader.expect_keyword("FROM"));
  SIBYL_ASSIGN(const size_t entity, read_entity_name(reader));
  layout.graph = Graph(entity);
  SIBYL_TRY(reader.expect_keyword("KEY"));
  SIBYL_TRY(read_layout_key(reader, layout));
  if (reader.take_word("VALUES")) {
    SIBYL_TRY(reader.expect_sign("("));
    do {
      SIBYL_ASSIGN(const Token path, reader.expect_word("a field"));
      SIBYL_TRY(resolve_all(reader, path, layout.graph, layout.values));
    } while (reader.take_sign(","));
    SIBYL_TRY(reader.expect_sign(")"));
  }
  std::erase_if(layout.values, [&](FieldReference field) {
    return std::find(layout.partition.begin(), layout.partition.end(), field) != layout.partition.end() ||
           std::find(layout.clustering.begin(), layout.clustering.end(), field) != layout.clustering.end();
  });
  SIBYL_TRY(reader.expect_end());
  workload_.layouts.push_back(std::move(layout));
  return {};
}

base::Status WorkloadReader::read_layout_key(TokenReader& reader, Layout& layout) {
  SIBYL_TRY(reader.expect_sign("("));
  SIBYL_TRY(reader.expect_sign("("));
  do {
    SIBYL_ASSIGN(const Token path, reader.expect_word("a field"));
    SIBYL_TRY(resolve_all(reader, path, layout.graph, layout.partition));
  } while (reader.take_sign(","));
  SIBYL_TRY(reader.expect_sign(")"));
  while (reader.take_sign(",")) {
    SIBYL_ASSIGN(const Token path, reader.expect_word("a field"));
    SIBYL_ASSIGN(const FieldReference field, resolve(reader, path, layout.graph));
    layout.clustering.push_back(field);
    layout.descending.push_back(reader.take_word("DESC"));
    if (!layout.descending.back()) reader.take_word("ASC");
  }
  return reader.expect_sign(")");
}

base::Result<size_t> WorkloadReader::read_layout_name(TokenReader& reader, const std::string& schema) {
  SIBYL_ASSIGN(const Token name, reader.expect_word("the name of a table"));
  std::vector<std::string> names;
  for (size_t i = 0; i < workload_.layouts.size(); ++i) {
    if (workload_.layouts[i].schema != schema) continue;
    if (workload_.layouts[i].name == name.text) return i;
    names.push_back(workload_.layouts[i].name);
  }
  return reader.unknown(name, fmt::format("table of '{}'", schema), name.text, names);
}

// read TABLE (field, field >=) limit 25
base::Result<StatedRead> WorkloadReader::read_stated_read(TokenReader& reader, const std::string& schema) {
  StatedRead read;
  SIBYL_ASSIGN(read.layout, read_layout_name(reader, schema));
  if (reader.take_sign("(")) {
    do {
      SIBYL_ASSIGN(const Token path, reader.expect_word("a field"));
      Graph graph = workload_.layouts[read.layout].graph;
      SIBYL_ASSIGN(const FieldReference field, resolve(reader, path, graph));
      if (graph.size() != workload_.layouts[read.layout].graph.size())
        return reader.fail(path, fmt::format("'{}' is not in the table", path.text));
      if (reader.take_sign(">=")) {
        read.range = true;
      } else {
        read.equal.push_back(field);
      }
    } while (reader.take_sign(","));
    SIBYL_TRY(reader.expect_sign(")"));
  }
  if (reader.take_word("limit")) {
    SIBYL_ASSIGN(const Token limit, reader.expect_word("a number of rows"));
    read.limit = read_number(limit.text);
  }
  return read;
}

// @plan SCHEMA NAME: read A > read B, read C, del D, put D; put E
base::Status WorkloadReader::read_plan(TokenReader& reader) {
  StatedPlan plan;
  plan.line = reader.peek().line;
  SIBYL_ASSIGN(const Token schema, reader.expect_word("the schema's name"));
  plan.schema = schema.text;
  SIBYL_ASSIGN(const Token name, reader.expect_word("the name of a statement or group"));
  plan.name = name.text;
  std::vector<std::string> names;
  for (const Group& group : workload_.groups) names.push_back(group.name);
  for (const Statement& statement : workload_.statements) names.push_back(statement.name);
  if (std::find(names.begin(), names.end(), plan.name) == names.end())
    return reader.unknown(name, "statement or group", plan.name, names);
  SIBYL_TRY(reader.expect_sign(":"));
  do {
    StatedUnit unit;
    do {
      if (reader.take_word("read")) {
        std::vector<StatedRead> chain;
        do {
          if (!chain.empty()) SIBYL_TRY(reader.expect_keyword("read"));
          SIBYL_ASSIGN(StatedRead read, read_stated_read(reader, plan.schema));
          chain.push_back(std::move(read));
        } while (reader.take_sign(">"));
        unit.lookups.push_back(std::move(chain));
        continue;
      }
      StatedWrite write;
      write.remove = reader.is_word("del");
      if (!write.remove && !reader.is_word("put")) return reader.expected("read, put or del");
      reader.next();
      SIBYL_ASSIGN(write.layout, read_layout_name(reader, plan.schema));
      unit.writes.push_back(write);
    } while (reader.take_sign(","));
    plan.units.push_back(std::move(unit));
  } while (reader.take_sign(";"));
  SIBYL_TRY(reader.expect_end());
  workload_.plans.push_back(std::move(plan));
  return {};
}

}  // namespace sibyl::advisor
