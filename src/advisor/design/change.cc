// Writes the statements that keep one table up to date.
#include <fmt/format.h>

#include <algorithm>

#include "advisor/design/write.h"
#include "advisor/review/review_model.h"
#include "cql/printer.h"

namespace sibyl::advisor {
namespace {

class ChangeWriter {
 public:
  ChangeWriter(const Model& model, const Statement& change, const MaintenanceUnit& unit,
               const DesignedTable& table, size_t first_lookup)
      : model_(model),
        change_(change),
        unit_(unit),
        table_(table),
        layout_(table.layout),
        first_lookup_(first_lookup) {}

  // Each of these functions adds a parameter for every marker that it writes.
  std::string remove() { return fmt::format("DELETE FROM {} WHERE {};", name(), key(true)); }
  std::string write() {
    const bool counts = std::any_of(change_.set.begin(), change_.set.end(),
                                    [](const Assignment& one) { return one.kind != Assignment::Kind::set; });
    if (counts) return update();
    return change_.kind == StatementKind::insert || unit_.remove || whole_row() ? insert() : update();
  }

 private:
  std::string name() const { return cql::print_name(layout_.name); }
  bool whole_row() const {
    return std::all_of(table_.columns.begin(), table_.columns.end(),
                       [&](const auto& column) { return !value(column.first, false).empty(); });
  }

  const Assignment* assignment(FieldReference field) const {
    if (field.node != unit_.node) return nullptr;
    for (const Assignment& candidate : change_.set) {
      if (candidate.field == field.field) return &candidate;
    }
    return nullptr;
  }
  // The value, from the statement itself or from a look-up; empty if neither has it.
  std::string value(FieldReference field, bool old, Parameter* parameter = nullptr) const;
  // Returns the same value, always as a bound marker.
  std::string bound(FieldReference field, bool old);
  std::string looked_up(const std::string& column) const;
  std::string computed(Parameter::Source source, const std::string& column);
  std::string key(bool old);
  std::string insert();
  std::string update();

  const Model& model_;
  const Statement& change_;
  const MaintenanceUnit& unit_;
  const DesignedTable& table_;
  const Layout& layout_;
  const size_t first_lookup_;

 public:
  std::vector<Parameter> parameters;
};

// Returns a marker name that the statement does not use yet.
std::string ChangeWriter::looked_up(const std::string& column) const {
  const std::string plain = ":" + column;
  bool taken = change_.key.text == plain;
  for (const Assignment& candidate : change_.set) taken = taken || candidate.value.text == plain;
  for (const Connection& candidate : change_.connections) taken = taken || candidate.value.text == plain;
  return ":" + cql::print_name((taken ? "found_" : "") + column);
}

std::string ChangeWriter::value(FieldReference field, bool old, Parameter* parameter) const {
  const std::string& column = table_.column(field);
  const auto written = [&](const Operand& operand) {
    if (parameter != nullptr) parameter->operand = operand.text;
    return marker_text(operand, column);
  };
  const MaintenanceUnit::Source& source = unit_.sources[field.node];
  const auto found = [&] {
    if (parameter == nullptr || source.need == SIZE_MAX) return;
    parameter->source = Parameter::Source::found;
    parameter->lookup = first_lookup_ + source.need;
    parameter->field = {source.node, field.field};
  };
  if (field == key_of(model_, layout_.graph, unit_.node)) return written(change_.key);
  if (unit_.connection != nullptr && field == key_of(model_, layout_.graph, unit_.other))
    return written(unit_.connection->value);
  if (change_.kind == StatementKind::insert) {
    for (const Connection& connection : change_.connections) {
      const auto other = layout_.graph.find(unit_.node, connection.step);
      if (other && field == key_of(model_, layout_.graph, *other)) return written(connection.value);
    }
  }
  if (const Assignment* set = assignment(field)) {
    if (!old) return written(set->value);
    found();
    return ":old_" + column;
  }
  if (source.need == SIZE_MAX || !contains(unit_.needs[source.need].wanted, {source.node, field.field}))
    return {};
  found();
  return looked_up(column);
}

std::string ChangeWriter::bound(FieldReference field, bool old) {
  Parameter parameter;
  parameter.entity = layout_.graph.nodes()[field.node].entity;
  parameter.entity_field = field.field;
  parameter.is_clustering = contains(layout_.clustering, field);
  parameter.is_period_time = layout_.period && layout_.period->field == field;
  std::string text = value(field, old, &parameter);
  if (text.starts_with(':')) parameters.push_back(std::move(parameter));
  return text;
}

std::string ChangeWriter::computed(Parameter::Source source, const std::string& column) {
  parameters.emplace_back().source = source;
  return ":" + cql::print_name(column);
}

std::string ChangeWriter::key(bool old) {
  std::vector<std::string> parts;
  const auto add = [&](FieldReference field) {
    parts.push_back(fmt::format("{} = {}", cql::print_name(table_.column(field)), bound(field, old)));
  };
  for (const FieldReference field : layout_.partition) add(field);
  const auto add_computed = [&](Parameter::Source source, const std::string& column) {
    parts.push_back(fmt::format("{} = {}", cql::print_name(column), computed(source, column)));
  };
  if (layout_.period) add_computed(Parameter::Source::period, table_.period_column);
  if (needs_bucket(layout_)) add_computed(Parameter::Source::bucket, table_.bucket_column);
  for (const FieldReference field : layout_.clustering) add(field);
  return fmt::format("{}", fmt::join(parts, " AND "));
}

std::string ChangeWriter::insert() {
  std::vector<std::string> columns, values;
  const auto add_computed = [&](Parameter::Source source, const std::string& column) {
    columns.push_back(cql::print_name(column));
    values.push_back(computed(source, column));
  };
  if (layout_.period) add_computed(Parameter::Source::period, table_.period_column);
  if (needs_bucket(layout_)) add_computed(Parameter::Source::bucket, table_.bucket_column);
  for (const auto& [field, column] : table_.columns) {
    const std::string found = bound(field, false);
    if (found.empty()) continue;
    columns.push_back(cql::print_name(column));
    values.push_back(found);
  }
  if (layout_.is_chunked) add_computed(Parameter::Source::chunk, table_.chunk_column);
  return fmt::format("INSERT INTO {} ({}) VALUES ({});", name(), fmt::join(columns, ", "),
                     fmt::join(values, ", "));
}

std::string ChangeWriter::update() {
  std::vector<std::string> parts;
  for (const FieldReference field : layout_.values) {
    const std::string found = bound(field, false);
    const std::string column = cql::print_name(table_.column(field));
    const Assignment* set = assignment(field);
    const Assignment::Kind kind = set != nullptr ? set->kind : Assignment::Kind::set;
    if (found.empty()) continue;
    parts.push_back(fmt::format("{} = {}{}", column,
                                kind == Assignment::Kind::set   ? ""
                                : kind == Assignment::Kind::add ? column + " + "
                                                                : column + " - ",
                                found));
  }
  return fmt::format("UPDATE {} SET {} WHERE {};", name(), fmt::join(parts, ", "), key(false));
}

}  // namespace

std::vector<PlannedStep> write_changes(const Model& model, const CostModel& cost, const Statement& change,
                                       const MaintenanceUnit& unit, const DesignedTable& table, size_t index,
                                       size_t first_lookup) {
  ChangeWriter writer(model, change, unit, table, first_lookup);
  std::vector<PlannedStep> steps;
  const auto add = [&](PlannedStep::Kind kind, std::string cql, double price) {
    PlannedStep step;
    step.kind = kind;
    step.table = index;
    step.cql = std::move(cql);
    step.parameters = std::move(writer.parameters);
    writer.parameters.clear();
    for (size_t need = 0; need < unit.needs.size(); ++need) step.lookups.push_back(first_lookup + need);
    step.rows = unit.rows;
    step.cost = unit.rows * price;
    if (!unit.needs.empty()) step.note = "for each row found";
    if (table.layout.period)
      step.note +=
          fmt::format("{}{} = {}", step.note.empty() ? "" : ", ", table.period_column, period_text(table));
    if (table.layout.is_chunked && kind == PlannedStep::Kind::insert)
      step.note += fmt::format("{}for each chunk of {}; delete further chunks of an older value",
                               step.note.empty() ? "" : ", ", size_text(chunk_size));
    if (needs_bucket(table.layout))
      step.note += fmt::format("{}{} = hash of the clustering key modulo {:.0f}",
                               step.note.empty() ? "" : ", ", table.bucket_column, table.layout.buckets);
    steps.push_back(std::move(step));
  };
  if (unit.remove) add(PlannedStep::Kind::remove, writer.remove(), cost.remove);
  if (unit.insert) add(PlannedStep::Kind::insert, writer.write(), cost.insert);
  return steps;
}

}  // namespace sibyl::advisor
