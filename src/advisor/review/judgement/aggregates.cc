#include "advisor/review/judgement/aggregates.h"

#include <fmt/format.h>

#include <algorithm>

#include "cql/printer.h"

namespace sibyl::advisor {
namespace {

// True if the SELECT is count(*) or count(1) of whole partitions.
bool counts_partitions(const StatementFacts& statement) {
  const cql::Select& select = *statement.select();
  const plan::Explanation::TableUse& use = statement.explanation.uses[0];
  if (select.selectors.size() != 1 || !use.clustering.empty() || !use.filters.empty()) return false;
  const auto* call = std::get_if<cql::FunctionCall>(&select.selectors[0].expression->node);
  return call != nullptr && call->function.name == "count" &&
         (call->star || std::holds_alternative<cql::Literal>(call->arguments[0]->node));
}

// A table with the partition key columns only.
Shape key_of_partitions(const schema::Table& table) {
  Shape shape = shape_of(table);
  shape.clustering.clear();
  shape.options.clear();
  std::erase_if(shape.columns, [&](const Shape::Column& one) { return !shape.in_key(one.name); });
  return shape;
}

std::string aggregates_of(const cql::Select& select) {
  std::vector<std::string> out;
  for (const cql::Selector& selector : select.selectors)
    if (std::holds_alternative<cql::FunctionCall>(selector.expression->node))
      out.push_back(cql::print(*selector.expression));
  return listed(out);
}

}  // namespace

std::optional<Severity> severity_of_aggregate(const StatementFacts& statement, double rows) {
  constexpr double some = 10'000, many = 100'000, hourly = 1 / 3600.0;
  if (rows < some) return std::nullopt;
  const bool rare = statement.rate > 0 && statement.rate <= hourly;
  return rows < many || rare ? Severity::note : Severity::warning;
}

void fix_aggregate(const StatementFacts& statement, const TableFacts& table, Finding& finding) {
  if (!counts_partitions(statement)) {
    finding.fix = fmt::format(
        "Compute {} when rows are written or when a period ends, and store it in a table with one row for "
        "each "
        "key that is asked for. A read then takes one row.",
        aggregates_of(*statement.select()));
    finding.cost = "One more write per change of a row, or a job for each period.";
    return;
  }
  Shape shape = key_of_partitions(*table.table);
  shape.name = stem_of(shape.name) + "_counted";
  shape.columns.push_back({shape.free_name("n"), "counter", false});
  finding.fix = fmt::format(
      "Count when rows are written: {} has one counter for each partition of {}, and a read takes one row.",
      shape.name, table.name);
  finding.cost =
      "One more write per new or deleted row. A counter also counts an INSERT that replaces a row, and a "
      "write "
      "that is retried: recount now and then if the number must be exact.";
  propose(finding, std::move(shape));
}

}  // namespace sibyl::advisor
