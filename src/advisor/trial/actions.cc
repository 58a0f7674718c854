#include "advisor/trial/actions.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "advisor/review/buckets.h"
#include "advisor/trial/pick.h"
#include "advisor/trial/suggest.h"

namespace sibyl::advisor {
namespace {

using Access = plan::Explanation::Access;

Work writing(const cql::Statement& statement) {
  Work work;
  const auto add = [&](const auto& node) {
    (std::holds_alternative<cql::Delete>(node) ? work.removes : work.inserts) += 1;
  };
  const auto* batch = std::get_if<cql::Batch>(&statement.node);
  if (batch == nullptr) add(statement.node);
  for (size_t i = 0; batch != nullptr && i < batch->statements.size(); ++i) add(batch->statements[i]);
  return work;
}

std::optional<Work> work_of(const Source& source) {
  if (source.facts->select() == nullptr) return writing(*source.facts->tree);
  if (!source.review.partitions || !source.review.rows_read) return std::nullopt;
  const auto& uses = source.facts->explanation.uses;
  const bool scans =
      !uses.empty() && (uses[0].access == Access::full_scan || uses[0].access == Access::token_range);
  Work work = reading(scans ? 1 : *source.review.partitions, *source.review.rows_read);
  if (scans) work.scanned = std::max(0.0, *source.review.partitions - 1);
  return work;
}

// Returns true if rows come newest first.
bool is_newest_first(const Source& source) {
  const schema::Column* time = time_column(source.data->table());
  if (time == nullptr) return true;
  for (const cql::Ordering& ordering : source.facts->select()->order_by)
    if (ordering.column == time->name) return ordering.descending;
  return time->descending;
}

// The number of buckets that one execution reads; none: unknown.
std::optional<double> buckets_of(const Source& source, double width, double wanted, bool from_front) {
  const TableData& data = *source.data;
  const plan::Explanation::TableUse& use = source.facts->explanation.uses[0];
  const bool bounded = !use.clustering.empty() && !from_front;
  if (!use.filters.empty() || bounded || data.row_interval_ms() <= 0) return std::nullopt;
  const double deleted = from_front ? 0 : data.mean_tombstones_met();
  const double rows = deleted + data.rows_per_partition();
  const double all = 1 + rows * data.row_interval_ms() / 1000 / width;
  return std::isinf(wanted)
             ? all
             : std::min(all, TimeBucket{1000 / data.row_interval_ms(), width, wanted}.expected());
}

// Reads bucket after bucket until there are enough rows. If newest_first, it starts at the current bucket and
// goes back. Otherwise it starts at the first bucket or, for a queue (from_front), at the bucket of the row
// that was last removed from the queue.
struct BucketReader {
  DataPtr data;
  size_t place = 0;
  SplitColumn split;
  RequestShape shape;
  double wanted = 0;
  bool newest_first = false, from_front = false;

  base::Status operator()(TrialSession& connection, Random& random, const TableData::Row& row) const {
    const TableData::Row newest = data->newest(row.partition);
    const double now = data->moment(newest) + data->row_interval_ms() * random.unit();
    const uint64_t deleted = data->deleted(row.partition);
    const bool goes_on = from_front && deleted > 0;
    const TableData::Row last_taken = data->deleted_row(row.partition, goes_on ? deleted - 1 : 0);
    const int64_t first = split.number(row.partition, goes_on ? data->moment(last_taken) : 0);
    const int64_t last = split.number(row.partition, now);
    double found = 0;
    for (int64_t i = 0; i <= last - first && found < wanted; ++i) {
      const int64_t bucket = newest_first ? last - i : first + i;
      Binding binding{data, {{split.name, split.bucket(bucket)}}, shape, std::nullopt};
      if (goes_on) binding.between = {last_taken, newest};
      SIBYL_ASSIGN(const std::vector<Cells> rows,
                   connection.run(place, binding.cells(connection.markers(place), row, random)));
      found += static_cast<double>(rows.size());
    }
    return {};
  }
};

Action run_by_time(const Source& source, const SplitStatement& statement, const TrialTable& target,
                   bool from_front, Operation& operation, Trial& trial) {
  BucketReader reader;
  reader.data = source.data;
  reader.split = *target.by_time();
  reader.place = trial.place(statement.text, source.facts->keyspace);
  reader.shape = shape_of(source, statement.text);
  reader.from_front = from_front;
  reader.newest_first = !from_front && is_newest_first(source);
  const bool limited = source.facts->explanation.uses[0].has_limit;
  reader.wanted =
      limited ? statement.limit.value_or(reader.shape.limit) : std::numeric_limits<double>::infinity();
  operation.requests = buckets_of(source, reader.split.width, reader.wanted, from_front);
  return reader;
}

// Predicts the work of a read of split partitions. Each prefix is read up to the number of rows wanted.
void expect_split(const Source& source, const Suggestion& suggestion, double prefixes, Operation& operation) {
  const auto of_all = [&](double rows) {
    const bool limited = source.facts->explanation.uses[0].has_limit;
    return limited ? std::max(rows, std::min(rows * prefixes, source.data->rows_per_partition())) : rows;
  };
  const double rows =
      suggestion.replaces ? *source.review.rows_read : source.review.rows_returned.value_or(1);
  operation.work = reading(suggestion.partitions, of_all(rows));
  if (operation.rows) operation.rows = of_all(*operation.rows);
}

}  // namespace

void set_actions(const Source& source, std::vector<Action> actions, Operation& operation) {
  operation.run = [picker = Picker(*source.facts, source.data, source.new_share),
                   actions = std::move(actions)](TrialSession& connection, Random& random) -> base::Status {
    const TableData::Row row = picker.pick(random);
    for (const Action& action : actions) SIBYL_TRY(action(connection, random, row));
    return {};
  };
}

Operation operation_of(const Source& source) {
  const StatementFacts& facts = *source.facts;
  Operation operation;
  // A recorded statement is named after the columns that it compares. Names may repeat between tables, so the
  // table is added.
  operation.name = facts.observed ? source.review.table + "/" + facts.name : facts.name;
  operation.group = facts.group;
  operation.weight = (facts.rate > 0 ? facts.rate : 1) * facts.times;
  operation.work = work_of(source);
  if (facts.select() != nullptr) operation.rows = source.review.rows_returned;
  operation.may_fail = facts.observed.has_value();
  return operation;
}

std::string obstacle(const Source& source) {
  if (source.facts->error) return "is rejected";
  const auto* insert = std::get_if<cql::Insert>(&source.facts->tree->node);
  return insert != nullptr && insert->json != nullptr ? "takes JSON" : "";
}

Trial::Text plain_text(const Source& source) {
  return {print_plain(source.facts->text), source.facts->keyspace};
}

RequestShape shape_of(const Source& source, const std::string& text) {
  RequestShape shape;
  shape.bounds = find_bounds(text);
  shape.range_share = source.range_share;
  if (source.facts->partitions) shape.listed = *source.facts->partitions;
  const std::optional<ObservedShape>& seen = source.facts->observed;
  if (!seen || seen->calls <= 0) return shape;
  shape.limit = std::max(1.0, std::round(seen->rows_returned / seen->calls));
  if (seen->partitions_read > 0) shape.range_rows = seen->rows_read / seen->partitions_read;
  const auto& uses = source.facts->explanation.uses;
  if (seen->rows_read > 0 && !uses.empty() && !uses[0].filters.empty())
    shape.range_share = seen->rows_returned / seen->rows_read;
  return shape;
}

Action run_unchanged(const Source& source, const Trial::Text& statement, const TrialTable& target,
                     Trial& trial) {
  const size_t place = trial.place(statement.text, statement.keyspace);
  return [target, place, shape = shape_of(source, statement.text)](
             TrialSession& connection, Random& random, const TableData::Row& row) -> base::Status {
    const Binding binding{target.data, target.added_cells(row), shape, std::nullopt};
    SIBYL_TRY(connection.run(place, binding.cells(connection.markers(place), row, random)));
    return {};
  };
}

Action run_split(const Source& source, const Suggestion& suggestion, const std::string& text,
                 Operation& operation, Trial& trial) {
  const TrialTable& target = suggestion.target;
  const plan::Explanation::TableUse& use = source.facts->explanation.uses[0];
  const bool reads = source.facts->select() != nullptr;
  if (reads && suggestion.replaces && !use.partitions)  // no partition key given
    return run_unchanged(source, {text, source.facts->keyspace}, target, trial);
  SplitStatement written{text, std::nullopt};
  double prefixes = 1;
  for (const bool by_hash : {true, false}) {
    for (const SplitColumn& split : target.splits) {
      if ((split.modulo > 0) != by_hash) continue;
      if (by_hash) prefixes *= split.modulo;
      const SplitStatement next = print_split(written.text, split.name, reads ? split.modulo : 0);
      written = {next.text, written.limit ? written.limit : next.limit};
    }
  }
  if (!reads) written.text = print_insert_of(written.text, target);
  if (reads && source.review.rows_read && !target.splits.empty())
    expect_split(source, suggestion, prefixes, operation);
  const bool by_row = suggestion.replaces && use.access == Access::rows;
  if (!reads || target.by_time() == nullptr || by_row)
    return run_unchanged(source, {written.text, source.facts->keyspace}, target, trial);
  const bool from_front = suggestion.queue && suggestion.queue->read == source.facts->name;
  if (from_front) written.text = print_after(written.text, suggestion.queue->column);
  Action action = run_by_time(source, written, target, from_front, operation, trial);
  if (operation.requests && operation.work) operation.work->partitions = *operation.requests * prefixes;
  return action;
}

}  // namespace sibyl::advisor
