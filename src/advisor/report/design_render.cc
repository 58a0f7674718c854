// Renders a design as text, Markdown and JSON.
#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>
#include <cmath>

#include "advisor/design/design.h"
#include "advisor/report/measurement_json.h"
#include "advisor/review/review_model.h"
#include "advisor/trial/measurement.h"

namespace sibyl::advisor {
namespace {

namespace json = boost::json;

std::string bytes_text(double bytes) {
  if (bytes < 1e3) return fmt::format("{:.0f} B", bytes);
  if (bytes < 1e6) return fmt::format("{:.1f} kB", bytes / 1e3);
  if (bytes < 1e9) return fmt::format("{:.1f} MB", bytes / 1e6);
  if (bytes < 1e12) return fmt::format("{:.2f} GB", bytes / 1e9);
  return bytes < 1e15 ? fmt::format("{:.2f} TB", bytes / 1e12) : size_text(bytes);
}

// The numbers are estimates, so fractions of large ones mean nothing.
std::string number_text(double count) {
  constexpr double large = 1000, nearly = 0.005;
  const bool whole = count >= large || std::abs(count - std::round(count)) < nearly;
  return whole ? fmt::format("{:.0f}", count) : fmt::format("{:.2f}", count);
}

std::string rows_text(double rows) {
  return rows < 1e9 ? number_text(rows) : count_text(rows);
}

std::string assumptions_text(const Design& design, const char* before) {
  std::string text;
  for (const std::string& one : design.assumptions) text += before + ("assumed: " + one) + "\n";
  return text;
}

std::string table_text(const Design& design, const DesignedTable& table) {
  std::string text = fmt::format("-- {} rows, {}", rows_text(table.rows), bytes_text(table.bytes));
  if (table.horizon_rows > table.rows)
    text += fmt::format("; after {} {} rows, {}", duration_text(design.horizon),
                        rows_text(table.horizon_rows), bytes_text(table.horizon_bytes));
  text += fmt::format("; largest partition {}", bytes_text(table.largest_partition_bytes));
  if (table.layout.period)
    text += fmt::format(", one for every {} of {}", duration_text(table.layout.period->seconds),
                        table.column(table.layout.period->field));
  if (table.layout.buckets > 1) text += fmt::format(", spread over {:.0f} buckets", table.layout.buckets);
  if (!table.hot_column.empty())
    text += fmt::format("\n-- hot key: the most frequent {} has {:.2g}% of the rows", table.hot_column,
                        100 * table.hot_value_share);
  if (!table.read_by.empty()) text += fmt::format("\n-- read by {}", fmt::join(table.read_by, ", "));
  return text + "\n" + table.definition + "\n\n";
}

const char* kind_name(PlannedStep::Kind kind) {
  switch (kind) {
    case PlannedStep::Kind::read:
      return "read";
    case PlannedStep::Kind::remove:
      return "delete";
    case PlannedStep::Kind::insert:
      return "write";
    case PlannedStep::Kind::client:
      break;
  }
  return "client";
}

// The records that a step reads or writes, how often it does, and its cost.
std::string step_about(const PlannedStep& step) {
  std::string about =
      step.kind == PlannedStep::Kind::read
          ? fmt::format("{} partition{}, {} row{}", number_text(step.partitions),
                        step.partitions == 1 ? "" : "s", number_text(step.rows), step.rows == 1 ? "" : "s")
          : fmt::format("{} row{}", number_text(step.rows), step.rows == 1 ? "" : "s");
  if (!step.note.empty()) about += "; " + step.note;
  if (step.shared) about += "; already done for another statement of the group";
  return about + fmt::format("; cost {:.4g}", step.cost);
}

std::string step_text(const PlannedStep& step) {
  if (step.kind == PlannedStep::Kind::client) return fmt::format("--   {}\n", step.cql);
  return fmt::format("--   {}\n--     {}: {}\n", step.cql, kind_name(step.kind), step_about(step));
}

std::string statement_text(const PlannedStatement& statement) {
  std::string text = fmt::format("-- {}{}{}: cost {:.4g}, weight {:g}\n--   = {}\n", statement.group,
                                 statement.group.empty() ? "" : " / ", statement.name, statement.cost,
                                 statement.weight, statement.text);
  for (const PlannedStep& step : statement.steps) text += step_text(step);
  if (statement.steps.empty()) text += "--   nothing to do: no table holds the changed data\n";
  return text + "\n";
}

std::string statement_markdown(const PlannedStatement& statement) {
  std::string text = fmt::format("\n### {}{}{}\n\nCost {:.4g}, weight {:g}: `{}`\n\n", statement.group,
                                 statement.group.empty() ? "" : " / ", statement.name, statement.cost,
                                 statement.weight, statement.text);
  if (statement.steps.empty()) return text + "Nothing to do: no table holds the changed data.\n";
  for (const PlannedStep& step : statement.steps) {
    if (step.kind == PlannedStep::Kind::client)
      text += fmt::format("- {}\n", step.cql);
    else
      text += fmt::format("- {}: `{}` ({})\n", kind_name(step.kind), step.cql, step_about(step));
  }
  return text;
}

std::vector<std::string> summary_lines(const Design& design) {
  return {
      fmt::format(
          "{} table{}, {}{}{}", design.tables.size(), design.tables.size() == 1 ? "" : "s",
          bytes_text(design.bytes),
          design.horizon_bytes > design.bytes
              ? fmt::format(", after {} {}", duration_text(design.horizon), bytes_text(design.horizon_bytes))
              : "",
          design.mix.empty() ? "" : ", for the mix " + design.mix),
      fmt::format("cost {:.6g}: queries {:.6g}, changes {:.6g}{}", design.total(), design.queries,
                  design.updates, design.shared ? ", look-ups shared within groups" : ""),
      fmt::format("{} among {} tables and {} plans, found in {:.1f} s",
                  design.proven ? std::string("the best choice")
                                : fmt::format("at most {:.2f}% above the best choice", 100 * design.gap()),
                  design.candidates, design.plans, design.seconds)};
}

// Writes the text as comments, so that the whole output can be run.
std::string commented(const std::string& text) {
  std::string out;
  for (size_t from = 0; from < text.size();) {
    const size_t end = std::min(text.find('\n', from), text.size());
    out += end > from ? "-- " + text.substr(from, end - from) + "\n" : "--\n";
    from = end + 1;
  }
  return out;
}

json::object table_json(const DesignedTable& table) {
  json::object object;
  object["name"] = table.layout.name;
  object["definition"] = table.definition;
  object["rows"] = table.rows;
  object["bytes"] = table.bytes;
  object["horizon_rows"] = table.horizon_rows;
  object["horizon_bytes"] = table.horizon_bytes;
  object["buckets"] = table.layout.buckets;
  if (table.layout.period) object["period_seconds"] = table.layout.period->seconds;
  object["largest_partition_bytes"] = table.largest_partition_bytes;
  object["hottest_share"] = table.hottest_share;
  if (!table.hot_column.empty()) {
    object["hot_column"] = table.hot_column;
    object["hot_value_share"] = table.hot_value_share;
  }
  json::array users;
  for (const std::string& name : table.read_by) users.emplace_back(name);
  object["read_by"] = std::move(users);
  return object;
}

json::object step_json(const Design& design, const PlannedStep& step) {
  json::object object;
  object["kind"] = kind_name(step.kind);
  object[step.kind == PlannedStep::Kind::client ? "action" : "cql"] = step.cql;
  if (step.kind == PlannedStep::Kind::client) return object;
  object["table"] = design.tables[step.table].layout.name;
  if (step.kind == PlannedStep::Kind::read) object["partitions"] = step.partitions;
  object["rows"] = step.rows;
  object["cost"] = step.cost;
  if (!step.note.empty()) object["note"] = step.note;
  if (step.shared) object["shared"] = true;
  return object;
}

json::object statement_json(const Design& design, const PlannedStatement& statement) {
  json::object object;
  object["name"] = statement.name;
  object["group"] = statement.group;
  object["statement"] = statement.text;
  object["query"] = statement.query;
  object["weight"] = statement.weight;
  object["cost"] = statement.cost;
  json::array steps;
  for (const PlannedStep& step : statement.steps) steps.push_back(step_json(design, step));
  object["steps"] = std::move(steps);
  return object;
}

}  // namespace

std::string render_text(const Design& design, const Measurement* measurement) {
  std::string text;
  for (const std::string& line : summary_lines(design)) text += "-- " + line + "\n";
  text += assumptions_text(design, "-- ") + "\n";
  for (const DesignedTable& table : design.tables) text += table_text(design, table);
  for (const PlannedStatement& statement : design.statements) text += statement_text(statement);
  return measurement == nullptr ? text : text + commented(render_text(*measurement, {}));
}

std::string render_markdown(const Design& design, const Measurement* measurement) {
  std::string text = "# Tables designed\n\n";
  for (const std::string& line : summary_lines(design)) text += "- " + line + "\n";
  text += assumptions_text(design, "- ") + "\n## Tables\n\n```sql\n";
  for (const DesignedTable& table : design.tables) text += table_text(design, table);
  text.pop_back();
  text += "```\n\n## Statements\n";
  for (const PlannedStatement& statement : design.statements) text += statement_markdown(statement);
  return measurement == nullptr ? text : text + "\n" + render_markdown(*measurement);
}

std::string render_json(const Design& design, const Measurement* measurement) {
  json::object object;
  object["mix"] = design.mix;
  object["cost"] = design.total();
  object["query_cost"] = design.queries;
  object["change_cost"] = design.updates;
  object["bound"] = design.bound;
  object["gap"] = design.gap();
  object["proven"] = design.proven;
  object["shared"] = design.shared;
  object["bytes"] = design.bytes;
  object["horizon_bytes"] = design.horizon_bytes;
  object["horizon_seconds"] = design.horizon;
  object["candidates"] = design.candidates;
  object["plans"] = design.plans;
  object["seconds"] = design.seconds;
  json::array assumptions;
  for (const std::string& one : design.assumptions) assumptions.emplace_back(one);
  object["assumptions"] = std::move(assumptions);
  json::array tables, statements;
  for (const DesignedTable& table : design.tables) tables.push_back(table_json(table));
  for (const PlannedStatement& statement : design.statements)
    statements.push_back(statement_json(design, statement));
  object["tables"] = std::move(tables);
  object["statements"] = std::move(statements);
  object["measurement"] = measurement_json(measurement);
  return json::serialize(object) + "\n";
}

}  // namespace sibyl::advisor
