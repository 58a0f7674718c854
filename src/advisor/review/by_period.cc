#include "advisor/review/by_period.h"

#include <fmt/format.h>

#include <algorithm>

namespace sibyl::advisor {
namespace {

bool bounds_range(cql::Operator op) {
  using cql::Operator;
  return op == Operator::less || op == Operator::less_or_equal || op == Operator::greater ||
         op == Operator::greater_or_equal || op == Operator::between;
}

// The only column that the query restricts, if it is a time and the restrictions are ranges; otherwise
// nullptr.
const schema::Column* time_of_ranges(const TableFacts& table, const cql::Select& select) {
  const schema::Column* time = nullptr;
  for (const cql::Relation& relation : select.where) {
    const schema::Column* column =
        relation.target == cql::Relation::Target::column && relation.columns.size() == 1
            ? table.table->find(relation.columns[0])
            : nullptr;
    if (column == nullptr || !bounds_range(relation.op) || (time != nullptr && time != column))
      return nullptr;
    time = column;
  }
  return time != nullptr && table.is_time(*time) ? time : nullptr;
}

}  // namespace

void propose_periods(const TableFacts& table, double width, Finding& finding) {
  std::vector<std::string> periods;
  for (size_t i = 0; i < table.table->partition_key_count; ++i)
    if (table.column(table.table->partition_key(i)).is_period)
      periods.push_back(table.table->partition_key(i).name);
  if (periods.size() != 1 || table.table->is_view()) return;
  const schema::Column* time = time_column(table);
  Proposal proposal;
  proposal.partition.push_back(
      {"bucket", "timestamp",
       fmt::format("{} rounded down to a multiple of {}", time != nullptr ? time->name : "the row's time",
                   duration_text(width)),
       periods[0], 0, width});
  finding.proposal = std::make_shared<const Proposal>(std::move(proposal));
}

bool fix_by_period(const ReviewModel& model, const StatementFacts& statement, const TableFacts& table,
                   Finding& finding) {
  const schema::Column* time = time_of_ranges(table, *statement.select());
  if (time == nullptr || table.table->is_counter) return false;
  constexpr double day = 86'400;
  Shape shape = shape_of(*table.table);
  std::vector<Shape::Order> key{{time->name, false}};
  for (const std::string& name : shape.partition)
    if (name != time->name) key.push_back({name, false});
  for (const Shape::Order& one : shape.clustering)
    if (one.name != time->name) key.push_back(one);
  const std::string bucket = shape.free_name("day");
  shape.partition.clear();
  shape.add_to_partition({bucket, "timestamp", false});
  shape.clustering = std::move(key);
  for (Shape::Column& column : shape.columns) column.is_static = false;
  shape.name = stem_of(shape.name) + "_by_" + bucket;
  const std::string name = shape.name;
  TableFacts base = table;
  base.columns[bucket].growth = 1 / day;
  const bool split = propose_within_target(model, base, std::move(shape), statement, finding);
  finding.fix =
      split ? fmt::format("Add a table by time: {}. {}", name, finding.fix)
            : fmt::format(
                  "Add a table by time: {} has a partition for each {} ({} rounded down). A read takes "
                  "every {} in its range.",
                  name, bucket, time->name, bucket);
  return true;
}

}  // namespace sibyl::advisor
