// Prints a design as a workload of tables, to be reviewed, drawn and measured.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "advisor/design/assumed.h"
#include "advisor/design/design.h"
#include "advisor/workload/cost.h"
#include "cql/printer.h"

namespace sibyl::advisor {
namespace {

std::string table_text(const Model& model, const DesignedTable& table) {
  const Layout& layout = table.layout;
  // Counts only periods that have rows now.
  const double periods =
      layout.period
          ? std::max(1.0, layout.period->count * table.rows / std::max(table.rows, table.horizon_rows))
          : 1;
  const double buckets = std::max(1.0, layout.buckets) * periods;
  const Field* large = layout.is_chunked ? &field_of(model, layout.graph, layout.values[0]) : nullptr;
  const double chunks = large != nullptr ? std::ceil(large->bytes / chunk_size) : 1;
  const double rows = std::max(1.0, table.rows * chunks);
  const double keys = std::max(1.0, table.rows / std::max(1.0, rows_per_key(model, layout)));
  const double row_bytes = std::max(1.0, layout_stored_row_bytes(model, layout) / chunks);
  const double largest = std::max(1.0, rows_of_largest_key(model, layout) / buckets);
  std::string text =
      fmt::format("{}\n-- @table {} rows={:.0f} partitions={:.0f} row={:.0f}", table.definition, layout.name,
                  rows, std::min(rows, keys * buckets), row_bytes);
  if (!layout.clustering.empty() && !table.hot_column.empty()) text += fmt::format(" max={:.0f}", largest);
  if (layout.period)
    text += fmt::format("\n-- @column {}.{} growth={:.9g}/s", layout.name, table.period_column,
                        1 / layout.period->seconds);
  return text + "\n\n";
}

// The weights of a mix are shares, not rates.
std::string statement_text(const PlannedStatement& statement, bool weights_are_rates) {
  const size_t steps = static_cast<size_t>(std::count_if(
      statement.steps.begin(), statement.steps.end(),
      [](const PlannedStep& step) { return step.kind != PlannedStep::Kind::client && !step.shared; }));
  if (steps == 0) return {};
  // The reads of a query form a group; the look-ups of an update are separate statements.
  std::string text = statement.query ? fmt::format("-- @group {}\n", statement.name) : std::string();
  size_t number = 0;
  for (const PlannedStep& step : statement.steps) {
    if (step.kind == PlannedStep::Kind::client || step.shared) continue;
    const bool read = step.kind == PlannedStep::Kind::read;
    const std::string name = steps == 1 ? statement.name : fmt::format("{}_{}", statement.name, ++number);
    if (!statement.query) text += fmt::format("-- @group {}\n", name);
    const double times = read ? step.partitions : step.rows;
    text += fmt::format("-- @{} {}", read ? "query" : "write", name);
    if (weights_are_rates) text += fmt::format(" rate={:.9g}/s", statement.weight);
    if (times > 0 && times != 1) text += fmt::format(" times={:.6g}", times);
    text += fmt::format("\n{}{}\n", step.cql, step.cql.ends_with(';') ? "" : ";");
  }
  return text + "\n";
}

}  // namespace

std::string print_design(const Workload& workload, const Design& design) {
  std::string text;
  const Assumed assumed = assume(workload);
  for (const DesignedTable& table : design.tables) text += table_text(assumed.workload.model, table);
  for (const PlannedStatement& statement : design.statements)
    text += statement_text(statement, design.mix.empty());
  if (workload.target.options.empty()) return text;
  text += "-- @target";
  for (const Option& option : workload.target.options)
    text += fmt::format(" {}={}", option.name, option.value);
  return text + "\n";
}

}  // namespace sibyl::advisor
