#include "execute/write/conditional.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/check.h"
#include "execute/read/reader.h"
#include "execute/row_change.h"
#include "execute/trace.h"
#include "execute/write/combine_merges.h"
#include "execute/write/modify_commit.h"
#include "plan/evaluation/clustering.h"
#include "plan/evaluation/intervals.h"
#include "plan/evaluation/keys.h"
#include "row/record_key.h"
#include "types/keys/key.h"

namespace sibyl::execute {

using plan::Conditions;
using plan::Modification;
using types::ValueView;

namespace {

const char* in_words(const Modification& statement) {
  return statement.kind == Modification::Kind::update ? "updates" : "deletions";
}

}  // namespace

ConditionalBuilder::ConditionalBuilder(std::vector<BoundStatement> statements,
                                       const plan::ConditionalResult& shape, bool is_batch,
                                       const Request& request, Environment& environment)
    : statements_(std::move(statements)),
      shape_(shape),
      is_batch_(is_batch),
      request_(request),
      environment_(environment),
      interrupt_(request.interrupt),
      space_(workspace()),
      now_micros_(environment.clock.now_micros()),
      now_seconds_(now_seconds_of(request, now_micros_)) {}

base::Status ConditionalBuilder::build(LockAttempt& attempt) {
  SIBYL_TRY(gather());
  SIBYL_TRY(check_consistency());
  PartitionLocks& locks = environment_.locks;
  if (!attempt.take(locks, locks.stripes_of(std::span<const Bytes>(&prefix_, 1)))) return {};
  Before before{ReadBefore(environment_.store.snapshot(), table(), now_seconds_), {}};
  SIBYL_ASSIGN(const bool applied, applies(before.reads));
  if (request_.trace != nullptr)
    request_.trace->step(applied ? "The conditions hold" : "The conditions do not hold: nothing is written");
  result.kind = ResultSet::Kind::rows;
  result.partitions_read = 1;
  result.rows_read = row_conditions_.size() + (static_conditions_ ? 1 : 0);
  if (!applied) {
    observe_all();
    return refuse(before.reads);
  }
  result.metadata = shape_.applied;
  result.rows.add(types::encode_boolean(true));
  result.rows.end_row();
  result.partitions_written = 1;
  SIBYL_TRY(write(before));
  observe_all();
  return {};
}

void ConditionalBuilder::observe_all() {
  for (size_t i = 0; i < statements_.size(); ++i)
    observe(environment_, *statements_[i].statement, targets_[i]);
}

// --- Collecting the conditions

base::Status ConditionalBuilder::gather() {
  targets_.resize(statements_.size());
  for (size_t i = 0; i < statements_.size(); ++i) {
    SIBYL_TRY(interrupt_.step());
    const BoundStatement& bound = statements_[i];
    const plan::Bindings bindings = bindings_of_statement(bound);
    SIBYL_TRY(resolve_partitions(*bound.statement, bindings, space_, targets_[i]));
    SIBYL_TRY(check_names(*bound.statement, targets_[i]));
    SIBYL_TRY(resolve_rows(*bound.statement, bindings, space_, targets_[i]));
    if (bound.statement->conditions) SIBYL_TRY(add_conditions(bound, targets_[i]));
  }
  return {};
}

plan::Bindings ConditionalBuilder::bindings_of_statement(const BoundStatement& bound) const {
  return bindings_of(bound.values, now_micros_);
}

// Refuses statements that name several partitions, or that do not name their rows.
base::Status ConditionalBuilder::check_names(const Modification& statement, const Targets& targets) {
  if (statement.where && statement.where->has_partition_in()) {
    if (is_batch_) {
      return base::invalid(
          "Batch with conditions cannot span multiple partitions (you cannot use IN on the partition key)");
    }
    return base::invalid(
        fmt::format("IN on the partition key is not supported with conditional {}", in_words(statement)));
  }
  // A token relation in addition to the key may exclude the partition.
  if (targets.prefixes.empty())
    return base::invalid(
        fmt::format("The token relation leaves no partition for the conditional {}", in_words(statement)));
  if (prefix_.empty()) prefix_ = targets.prefixes.front();
  if (prefix_ != targets.prefixes.front())
    return base::invalid("Batch with conditions cannot span multiple partitions");
  if (statement.where && statement.where->has_clustering_in()) {
    return base::invalid(fmt::format("IN on the clustering key columns is not supported with conditional {}",
                                     in_words(statement)));
  }
  return {};
}

base::Status ConditionalBuilder::add_conditions(const BoundStatement& bound, const Targets& targets) {
  const Conditions& conditions = *bound.statement->conditions;
  const bool names_row = !targets.rows.empty();
  const auto row = [&]() -> std::optional<RowConditions>& {
    return names_row ? row_conditions_[targets.rows.front().clustering] : static_conditions_;
  };
  if (conditions.is_about_existence()) return add_existence(row(), conditions.kind);
  const plan::Bindings bindings = bindings_of_statement(bound);
  if (!conditions.regular.empty()) SIBYL_TRY(add_columns(row(), conditions.regular, bindings));
  if (!conditions.statics.empty()) SIBYL_TRY(add_columns(static_conditions_, conditions.statics, bindings));
  return {};
}

base::Status ConditionalBuilder::add_existence(std::optional<RowConditions>& row, Conditions::Kind kind) {
  if (!row) {
    row.emplace();
    row->kind = kind;
  }
  if (row->kind == kind) return {};
  if (row->kind != Conditions::Kind::columns)
    return base::invalid("Cannot mix IF EXISTS and IF NOT EXISTS conditions for the same row");
  return base::invalid(fmt::format("Cannot mix IF conditions and IF {}EXISTS for the same row",
                                   kind == Conditions::Kind::not_exists ? "NOT " : ""));
}

base::Status ConditionalBuilder::add_columns(std::optional<RowConditions>& row,
                                             const std::vector<plan::Condition>& conditions,
                                             const plan::Bindings& bindings) {
  if (!row) row.emplace();
  if (row->kind != Conditions::Kind::columns)
    return base::invalid("Cannot mix IF conditions and IF NOT EXISTS for the same row");
  for (const plan::Condition& condition : conditions) {
    SIBYL_ASSIGN(BoundCondition bound, bind_condition(condition, bindings, space_.scratch));
    row->conditions.push_back(std::move(bound));
  }
  return {};
}

base::Status ConditionalBuilder::check_consistency() const {
  if (!is_serial(request_.serial_consistency)) {
    return base::invalid("Invalid consistency for conditional update. Must be one of SERIAL or LOCAL_SERIAL");
  }
  if (!is_serial(request_.consistency)) return {};
  return base::invalid(fmt::format(
      "{} is not supported as conditional update commit consistency. Use ANY if you mean \"make sure it is "
      "accepted but I don't care how many replicas commit it for non-SERIAL reads\"",
      request_.consistency == Consistency::serial ? "SERIAL" : "LOCAL_SERIAL"));
}

// --- Evaluating the conditions

base::Result<bool> ConditionalBuilder::applies(ReadBefore& reads) {
  if (static_conditions_) {
    SIBYL_ASSIGN(const row::Fragment* statics, reads.static_row(prefix_));
    SIBYL_ASSIGN(const bool holds, hold(*static_conditions_, *statics));
    if (!holds) return false;
  }
  for (const auto& [clustering, conditions] : row_conditions_) {
    SIBYL_ASSIGN(const row::Fragment* row, reads.row(prefix_, clustering));
    SIBYL_ASSIGN(const bool holds, hold(*conditions, *row));
    if (!holds) return false;
  }
  return true;
}

base::Result<bool> ConditionalBuilder::hold(const RowConditions& row, const row::Fragment& fragment) {
  if (row.kind != Conditions::Kind::columns)
    return exists(fragment) == (row.kind == Conditions::Kind::exists);
  for (const BoundCondition& condition : row.conditions) {
    SIBYL_ASSIGN(const bool one, holds(condition, fragment, space_.scratch));
    if (!one) return false;
  }
  return true;
}

// --- Applied

base::Result<int64_t> ConditionalBuilder::latest_written(ReadBefore& reads) {
  int64_t latest = row::no_timestamp;
  for (size_t i = 0; i < targets_.size(); ++i) {
    SIBYL_TRY(interrupt_.step());
    const Targets& targets = targets_[i];
    for (const plan::NamedRow& row : targets.rows) {
      SIBYL_ASSIGN(const int64_t seen, reads.latest_of_row(prefix_, row.clustering));
      latest = std::max(latest, seen);
    }
    if (statements_[i].statement->updates_statics() || targets.deletes_partitions) {
      SIBYL_ASSIGN(const int64_t seen, reads.latest_of_statics(prefix_));
      latest = std::max(latest, seen);
    }
    std::vector<plan::Interval> ranges = targets.ranges;
    if (targets.deletes_partitions) ranges.emplace_back();
    for (const plan::Interval& range : ranges) {
      SIBYL_ASSIGN(const int64_t seen, reads.latest_of_rows(prefix_, range));
      latest = std::max(latest, seen);
    }
  }
  return latest;
}

base::Result<int64_t> ConditionalBuilder::timestamp(ReadBefore& reads) {
  constexpr int64_t last = std::numeric_limits<int64_t>::max();
  SIBYL_ASSIGN(const int64_t written, latest_written(reads));
  if (written == last)
    return base::fail(
        base::Error(
            base::ErrorCode::invalid,
            fmt::format("Cannot apply the conditional update: it would replace data that has the largest "
                        "possible timestamp, {}",
                        last))
            .with_hint(
                fmt::format("delete this data without IF, with USING TIMESTAMP {}, and write new rows under "
                            "another key",
                            last)));
  return std::max(environment_.timestamps.next(), written + 1);
}

base::Status ConditionalBuilder::write(Before& before) {
  space_.guardrails = environment_.guardrails;
  SIBYL_ASSIGN(const int64_t ballot, timestamp(before.reads));
  for (size_t i = 0; i < statements_.size(); ++i) {
    SIBYL_TRY(interrupt_.step());
    const plan::Bindings bindings = bindings_of_statement(statements_[i]);
    const Modification& statement = *statements_[i].statement;
    SIBYL_ASSIGN(WriteContext context,
                 write_context_of(statement, bindings, request_, std::nullopt, ballot, space_.scratch));
    context.timestamp = ballot;
    context.is_conditional = true;
    SIBYL_TRY(build_writes(statement, targets_[i], bindings, context, &before, space_, writes));
  }
  result.warnings = std::move(space_.warnings);
  combine_merges(writes);
  const schema::Table* const changed = &table();
  if (!changed->needs_index_maintenance()) return {};
  return maintain_indexes({&changed, 1}, environment_, request_, writes, view_rows);
}

// --- Not applied

// Returns true if the response shows the static column. If the request writes static columns, all of them are
// shown, otherwise only those in conditions.
bool ConditionalBuilder::reads_static(uint32_t column) const {
  for (const BoundStatement& bound : statements_) {
    if (!bound.statement->conditions) continue;
    if (bound.statement->updates_statics()) return true;
    for (const plan::Condition& condition : bound.statement->conditions->statics)
      if (condition.column->id == column) return true;
  }
  return false;
}

base::Status ConditionalBuilder::refuse(ReadBefore& reads) {
  SIBYL_ASSIGN(const row::Fragment* all_statics, reads.static_row(prefix_));
  row::Fragment statics;
  for (const row::Cell& cell : all_statics->cells)
    if (reads_static(cell.column)) statics.cells.push_back(cell);
  Bytes key;
  SIBYL_CHECK(row::decode_partition_key(prefix_, key));
  if (table().partition_key_count == 1) {
    partition_key_.push_back(std::move(key));
  } else {
    SIBYL_ASSIGN(partition_key_, types::split_partition_key(key, table().partition_key_count));
  }

  result.metadata = shape_.refused;
  SIBYL_TRY(row_conditions_.empty() ? answer_first_row(statics) : answer_rows(reads, statics));
  if (result.rows.count() == 0 && !statics.cells.empty()) SIBYL_TRY(answer_row(statics, {}, nullptr));
  if (result.rows.count() > 0) return {};
  result.metadata = shape_.applied;
  result.rows.add(types::encode_boolean(false));
  result.rows.end_row();
  return {};
}

base::Status ConditionalBuilder::answer_rows(ReadBefore& reads, const row::Fragment& statics) {
  for (const auto& [clustering, conditions] : row_conditions_) {
    SIBYL_ASSIGN(const row::Fragment* row, reads.row(prefix_, clustering));
    if (exists(*row)) SIBYL_TRY(answer_row(statics, clustering, row));
  }
  return {};
}

// If all conditions are on static columns, the response contains the partition's first row. A request that
// names no row does not read regular columns, so it only sees rows that were inserted.
base::Status ConditionalBuilder::answer_first_row(const row::Fragment& statics) {
  const auto names_rows = [](const BoundStatement& bound) { return bound.statement->updates_rows(); };
  const bool reads_rows = std::any_of(statements_.begin(), statements_.end(), names_rows);
  ReadPlan plan;
  plan.table = &table();
  plan.now_seconds = now_seconds_;
  plan.keys.resize(1);
  SIBYL_CHECK(row::decode_partition_key(prefix_, plan.keys[0]));
  plan.intervals.emplace_back();
  SIBYL_ASSIGN(const std::unique_ptr<Reader> reader, open_reader(environment_.store, plan));
  SIBYL_ASSIGN(const bool found, reader->next_partition());
  while (found) {
    SIBYL_ASSIGN(const bool has_row, reader->next_row());
    if (!has_row) break;
    if (!reads_rows && !reader->row().marker.exists()) continue;
    row::Fragment keys_only;
    keys_only.original_clustering = reader->row().original_clustering;
    return answer_row(statics, reader->clustering(), reads_rows ? &reader->row() : &keys_only);
  }
  return {};
}

// Returns the existing value, masked if necessary.
base::Result<ValueView> ConditionalBuilder::shown(const schema::Column& column, const ValueView& value) {
  if (request_.unmasked || !column.mask) return value;
  const auto has_conditions = [](const BoundStatement& bound) {
    return bound.statement->conditions != nullptr;
  };
  const Modification& statement =
      *std::find_if(statements_.begin(), statements_.end(), has_conditions)->statement;
  plan::Bindings bindings;
  bindings.now_micros = now_micros_;
  bindings.inputs = std::span(&value, 1);
  bindings.unmasked = false;
  return statement.masks[table().index_of(column)]->evaluate(bindings, space_.scratch);
}

// Without a row, only the partition key and static columns have values.
base::Status ConditionalBuilder::answer_row(const row::Fragment& statics, BytesView clustering,
                                            const row::Fragment* row) {
  std::vector<Bytes> clustering_values;
  if (row) {
    SIBYL_ASSIGN(clustering_values, plan::clustering_values(table(), clustering, row->original_clustering));
  }
  result.rows.add(types::encode_boolean(false));
  for (const schema::Column* column : shape_.columns) {
    const auto position = static_cast<size_t>(column->position);
    ValueView value;
    if (column->is_partition_key()) {
      value = ValueView::of(partition_key_[position]);
    } else if (column->is_clustering()) {
      if (row && position < clustering_values.size()) value = ValueView::of(clustering_values[position]);
    } else if (column->is_static()) {
      value = column_value(*column, statics, space_.scratch);
    } else if (row) {
      value = column_value(*column, *row, space_.scratch);
    }
    SIBYL_ASSIGN(value, shown(*column, value));
    if (value.is_present()) {
      result.rows.add(value.bytes);
    } else {
      result.rows.add_null();
    }
  }
  result.rows.end_row();
  return {};
}

}  // namespace sibyl::execute
