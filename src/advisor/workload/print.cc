// Prints a workload as a file.
#include <fmt/format.h>

#include <algorithm>

#include "advisor/workload/workload.h"
#include "types/identifier.h"

namespace sibyl::advisor {
namespace {

std::string options_text(const Options& options) {
  std::string text;
  for (const Option& option : options) text += fmt::format(" {}={}", option.name, option.value);
  return text;
}

std::string entity_text(const Entity& entity) {
  std::string text = fmt::format("-- @entity {} count={}", entity.name, entity.count);
  if (entity.growth) text += fmt::format(" growth={}/s", *entity.growth);
  if (entity.retention) text += fmt::format(" retention={}s", *entity.retention);
  text += " (";
  for (size_t i = 0; i < entity.fields.size(); ++i) {
    const Field& field = entity.fields[i];
    text += fmt::format("{}\n--   {} {}", i == 0 ? "" : ",", field.name, field.type);
    if (i == entity.key) text += " key";
    text += fmt::format(" size={}", field.bytes);
    if (field.distinct > 0) text += fmt::format(" distinct={}", field.distinct);
    if (field.zipf > 0) text += fmt::format(" skew=zipf({})", field.zipf);
  }
  return text + ")\n";
}

std::string relationship_text(const Model& model, const Relationship& relationship) {
  std::string text =
      fmt::format("-- @rel {}.{} -> {}.{}", model.entities[relationship.from].name, relationship.role,
                  model.entities[relationship.to].name, relationship.reverse_role);
  if (relationship.multiplicity == Multiplicity::many_many) text += " many-many";
  if (relationship.multiplicity == Multiplicity::one_one) text += " one-one";
  text += fmt::format(" links={}", relationship.links);
  if (relationship.zipf > 0) text += fmt::format(" skew=zipf({})", relationship.zipf);
  return text + "\n";
}

std::string paths(const Model& model, const Graph& graph, const std::vector<FieldReference>& fields) {
  std::string text;
  for (const FieldReference field : fields)
    text += (text.empty() ? "" : ", ") + path_text(model, graph, field);
  return text;
}

std::string layout_text(const Model& model, const Layout& layout) {
  std::string text = fmt::format("-- @layout {} {} FROM {} KEY (({})", layout.schema, layout.name,
                                 model.entities[layout.graph.nodes()[0].entity].name,
                                 paths(model, layout.graph, layout.partition));
  for (size_t i = 0; i < layout.clustering.size(); ++i)
    text += fmt::format(", {}{}", path_text(model, layout.graph, layout.clustering[i]),
                        layout.descending[i] ? " DESC" : "");
  text += ")";
  if (!layout.values.empty()) text += fmt::format(" VALUES ({})", paths(model, layout.graph, layout.values));
  return text + "\n";
}

std::string read_text(const Workload& workload, const StatedRead& read) {
  const Layout& layout = workload.layouts[read.layout];
  std::string text = "read " + layout.name, fields = paths(workload.model, layout.graph, read.equal);
  if (read.range) {
    const auto ranged =
        std::find_if(layout.clustering.begin(), layout.clustering.end(), [&](FieldReference field) {
          return std::find(read.equal.begin(), read.equal.end(), field) == read.equal.end();
        });
    const FieldReference field = ranged != layout.clustering.end() ? *ranged : layout.partition[0];
    fields += (fields.empty() ? "" : ", ") + path_text(workload.model, layout.graph, field) + " >=";
  }
  if (!fields.empty()) text += fmt::format(" ({})", fields);
  if (read.limit) text += fmt::format(" limit {}", *read.limit);
  return text;
}

std::string plan_text(const Workload& workload, const StatedPlan& plan) {
  std::string text = fmt::format("-- @plan {} {}:", plan.schema, plan.name);
  for (const StatedUnit& unit : plan.units) {
    if (text.back() != ':') text += ";";
    std::vector<std::string> items;
    for (const auto& chain : unit.lookups) {
      std::string reads;
      for (const StatedRead& read : chain) reads += (reads.empty() ? "" : " > ") + read_text(workload, read);
      items.push_back(reads);
    }
    for (const StatedWrite& write : unit.writes)
      items.push_back((write.remove ? "del " : "put ") + workload.layouts[write.layout].name);
    text += fmt::format(" {}", fmt::join(items, ", "));
  }
  return text + "\n";
}

std::string select_text(const Model& model, const Statement& statement) {
  const std::string& root = model.entities[statement.entity()].name;
  std::string text = fmt::format("SELECT {} FROM {}", paths(model, statement.graph, statement.select), root);
  for (size_t i = 0; i < statement.where.size(); ++i) {
    const Predicate& predicate = statement.where[i];
    text += fmt::format(" {} {} {} {}", i == 0 ? "WHERE" : "AND",
                        path_text(model, statement.graph, predicate.field), to_string(predicate.comparison),
                        predicate.value.text);
  }
  for (size_t i = 0; i < statement.order.size(); ++i)
    text += fmt::format("{} {}{}", i == 0 ? " ORDER BY" : ",",
                        path_text(model, statement.graph, statement.order[i].field),
                        statement.order[i].descending ? " DESC" : "");
  if (statement.limit) text += fmt::format(" LIMIT {}", *statement.limit);
  return text;
}

std::string insert_text(const Model& model, const Statement& statement) {
  const Entity& entity = model.entities[statement.entity()];
  std::string columns = entity.fields[entity.key].name, values = statement.key.text;
  for (const Assignment& assignment : statement.set) {
    columns += ", " + entity.fields[assignment.field].name;
    values += ", " + assignment.value.text;
  }
  for (const Connection& connection : statement.connections) {
    columns += ", " + role_name(model, connection.step);
    values += ", " + connection.value.text;
  }
  return fmt::format("INSERT INTO {} ({}) VALUES ({})", entity.name, columns, values);
}

std::string update_text(const Model& model, const Statement& statement) {
  const Entity& entity = model.entities[statement.entity()];
  std::vector<std::string> parts;
  for (const Assignment& assignment : statement.set) {
    const std::string& name = entity.fields[assignment.field].name;
    const std::string counted = assignment.kind == Assignment::Kind::set
                                    ? ""
                                    : name + (assignment.kind == Assignment::Kind::add ? " + " : " - ");
    parts.push_back(fmt::format("{} = {}{}", name, counted, assignment.value.text));
  }
  for (const Connection& connection : statement.connections) {
    const std::string& role = role_name(model, connection.step);
    parts.push_back(to_one(model, connection.step)
                        ? fmt::format("{} = {}", role, connection.value.text)
                        : fmt::format("{0} = {0} {1} {{{2}}}", role, connection.disconnect ? "-" : "+",
                                      connection.value.text));
  }
  return fmt::format("UPDATE {} SET {} WHERE {} = {}", entity.name, fmt::join(parts, ", "),
                     entity.fields[entity.key].name, statement.key.text);
}

std::string annotation(const std::string& name, bool write, const Options& options) {
  return fmt::format("-- @{} {}{}\n", write ? "write" : "query", name, options_text(options));
}

// Adds quotes if a directive could not be parsed without them.
std::string name_text(const std::string& name) {
  const bool plain = std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.';
  });
  return plain ? name : types::quote_identifier(name);
}

// Prints a group: its statements and CQL in the order of the file.
std::string grouped_text(const Workload& workload, const std::string& group) {
  std::string text;
  for (const Statement& statement : workload.statements) {
    if (statement.group != group) continue;
    text += annotation(statement.name, !statement.is_query(), statement.options);
    text += "--   " + print_statement(workload.model, statement) + "\n";
  }
  for (const CqlStatement& statement : workload.cql) {
    if (statement.group != group) continue;
    if (!statement.name.empty()) text += annotation(statement.name, statement.write, statement.options);
    text += statement.text + (statement.text.ends_with(';') ? "\n" : ";\n");
  }
  return text;
}

}  // namespace

std::string print_statement(const Model& model, const Statement& statement) {
  switch (statement.kind) {
    case StatementKind::select:
      return select_text(model, statement);
    case StatementKind::insert:
      return insert_text(model, statement);
    case StatementKind::update:
      return update_text(model, statement);
    case StatementKind::remove:
      break;
  }
  const Entity& entity = model.entities[statement.entity()];
  return fmt::format("DELETE FROM {} WHERE {} = {}", entity.name, entity.fields[entity.key].name,
                     statement.key.text);
}

std::string print_workload(const Workload& workload) {
  std::string text;
  for (const Entity& entity : workload.model.entities) text += entity_text(entity);
  for (const Relationship& relationship : workload.model.relationships)
    text += relationship_text(workload.model, relationship);
  for (const TableStatistics& statistics : workload.statistics) {
    text += statistics.column.empty()
                ? "-- @table " + name_text(statistics.table)
                : fmt::format("-- @column {}.{}", name_text(statistics.table), name_text(statistics.column));
    text += options_text(statistics.options) + "\n";
  }
  for (const Mix& mix : workload.mixes)
    text +=
        fmt::format("-- @mix {}{} write={}\n", mix.name, mix.of.empty() ? "" : " of=" + mix.of, mix.write);
  if (!workload.target.options.empty()) text += "-- @target" + options_text(workload.target.options) + "\n";
  text += grouped_text(workload, "");
  for (const Group& group : workload.groups) {
    text += fmt::format("-- @group {}{}", group.name, group.write ? " write" : "");
    for (const auto& [mix, weight] : group.weights) text += fmt::format(" {}={}", mix, weight);
    text += "\n" + grouped_text(workload, group.name);
  }
  for (const Layout& layout : workload.layouts) text += layout_text(workload.model, layout);
  for (const StatedPlan& plan : workload.plans) text += plan_text(workload, plan);
  return text;
}

}  // namespace sibyl::advisor
