#include "execute/write/modify_build.h"

#include <fmt/format.h>

#include "execute/write/modify_cells.h"
#include "execute/write/modify_json.h"
#include "execute/write_limits.h"
#include "plan/evaluation/clustering.h"
#include "plan/evaluation/intervals.h"
#include "plan/evaluation/keys.h"
#include "plan/evaluation/partitions.h"
#include "row/record_key.h"

namespace sibyl::execute {

using plan::Modification;
using plan::Operation;
using types::ValueView;
using NamedRow = plan::NamedRow;

namespace {

// Returns the row with these values of all clustering columns.
base::Result<NamedRow> named_row(const schema::Table& table, std::span<const ValueView> values,
                                 Workspace& space) {
  space.clustering_values.clear();
  size_t size = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    if (values[i].is_null())
      return base::invalid("Invalid null value in condition for column " + table.clustering(i).name);
    if (values[i].is_unset())
      return base::invalid("Invalid unset value for column " + table.clustering(i).name);
    size += values[i].bytes.size();
    space.clustering_values.push_back(values[i].bytes);
  }
  if (size > plan::max_key_size)
    return base::invalid(
        fmt::format("Key length of {} is longer than maximum of {}", size, plan::max_key_size));
  NamedRow row;
  row.clustering = plan::clustering_of(table, space.clustering_values);
  row.original = plan::original_clustering_of(table, space.clustering_values, row.clustering);
  return row;
}

base::Status add_partition(const Modification& statement, std::span<const ValueView> values,
                           Targets& targets) {
  const schema::Table& table = *statement.table;
  SIBYL_ASSIGN(const Bytes key, plan::partition_key_of(table, values));
  targets.prefixes.push_back(row::partition_prefix(table.storage_id, key));
  return {};
}

base::Status add_row(const Modification& statement, std::span<const ValueView> values, Workspace& space,
                     Targets& targets) {
  if (!statement.names_rows) return {};
  SIBYL_ASSIGN(NamedRow row, named_row(*statement.table, values, space));
  targets.rows.push_back(std::move(row));
  return {};
}

base::Result<std::span<const ValueView>> evaluate_all(const std::vector<plan::TermPtr>& terms,
                                                      const plan::Bindings& bindings, Workspace& space) {
  space.key_values.clear();
  for (const plan::TermPtr& term : terms) {
    SIBYL_ASSIGN(const ValueView value, term->evaluate(bindings, space.scratch));
    space.key_values.push_back(value);
  }
  return space.key_values;
}

base::Status resolve_where_rows(const Modification& statement, const plan::Bindings& bindings,
                                Workspace& space, Targets& targets) {
  if (statement.names_rows) {
    if (statement.table->clustering_count == 0) {
      targets.rows.emplace_back();
      return {};
    }
    SIBYL_ASSIGN(targets.rows, plan::named_rows(*statement.where, bindings, space.scratch));
    return {};
  }
  if (statement.kind == Modification::Kind::delete_ && !statement.row_operations.empty()) {
    SIBYL_ASSIGN(targets.names_range, plan::reaches_rows(*statement.where, bindings, space.scratch));
    return {};
  }
  if (!statement.deletes_rows()) return {};
  if (!statement.where->restricts_clustering()) {
    targets.deletes_partitions = true;
    return {};
  }
  SIBYL_ASSIGN(targets.ranges, plan::clustering_intervals(*statement.where, bindings, space.scratch));
  return {};
}

class Builder {
 public:
  Builder(const Modification& statement, const Targets& targets, const plan::Bindings& bindings,
          const WriteContext& context, Before* before, Workspace& space, storage::WriteSet& writes)
      : statement_(statement),
        targets_(targets),
        bindings_(bindings),
        context_(context),
        before_(before),
        space_(space),
        writes_(writes),
        cells_(context, bindings, space.scratch, space.fragment) {}

  base::Status build() {
    if (space_.guardrails != nullptr && space_.guardrails->limits_timestamps())
      SIBYL_TRY(check_timestamp(*statement_.table, context_, *space_.guardrails, space_.warnings));
    for (const Bytes& prefix : targets_.prefixes) {
      if (statement_.deletes_rows()) {
        SIBYL_TRY(delete_rows(prefix));
        continue;
      }
      for (const NamedRow& row : targets_.rows) SIBYL_TRY(write_row(prefix, row));
      if (!statement_.static_operations.empty() || writes_static_json()) SIBYL_TRY(write_static(prefix));
    }
    return {};
  }

 private:
  row::Fragment& fresh() {
    space_.fragment.clear();
    return space_.fragment;
  }

  base::Status merge(const Bytes& prefix, Bytes key) {
    if (space_.fragment.empty()) return {};
    Bytes encoded;
    row::encode(space_.fragment, encoded);
    writes_.merge(std::move(key), std::move(encoded));
    return check_write_size(*statement_.table, prefix, writes_);
  }

  base::Status delete_rows(const Bytes& prefix) {
    if (targets_.deletes_partitions) {
      fresh().deletion = context_.wide_deletion();
      return merge(prefix, row::partition_record_key(prefix));
    }
    const bool is_whole_partition = statement_.table->clustering_count == 0;
    for (const NamedRow& row : targets_.rows) {
      SIBYL_TRY(check_compact_key(row));
      fresh();
      // A row of a compact table is a single cell.
      if (statement_.table->compact == schema::Compact::dense) {
        SIBYL_TRY(cells_.set(statement_.table->columns.back(), ValueView::null()));
      } else {
        space_.fragment.deletion = is_whole_partition ? context_.wide_deletion() : context_.deletion();
      }
      SIBYL_TRY(merge(prefix, row::row_record_key(prefix, row.clustering)));
    }
    for (const plan::Interval& range : targets_.ranges) {
      fresh().deletion = context_.wide_deletion();
      const auto end = range.end ? std::optional<BytesView>(*range.end) : std::nullopt;
      SIBYL_TRY(merge(prefix, row::range_deletion_record_key(prefix, range.begin, end)));
    }
    if (targets_.ranges.empty()) return {};
    fresh().has_range_deletions = true;
    return merge(prefix, row::partition_record_key(prefix));
  }

  base::Status write_row(const Bytes& prefix, const NamedRow& row) {
    SIBYL_TRY(check_compact_key(row));
    row::Fragment& fragment = fresh();
    fragment.original_clustering = row.original;
    const bool is_compact = statement_.table->is_compact();
    if (statement_.kind == Modification::Kind::insert && !is_compact) {
      fragment.marker.timestamp = context_.timestamp;
      fragment.marker.time_to_live = context_.time_to_live;
      if (context_.time_to_live != 0)
        fragment.marker.expires_seconds = context_.now_seconds + context_.time_to_live;
    }
    SIBYL_TRY(apply(statement_.row_operations, prefix, &row));
    if (is_compact && statement_.row_operations.empty() && !statement_.json) SIBYL_TRY(set_compact_value());
    if (statement_.json) SIBYL_TRY(apply_json(false));
    SIBYL_TRY(guard_values());
    return merge(prefix, row::row_record_key(prefix, row.clustering));
  }

  // The only clustering column of a compact table cannot be empty.
  base::Status check_compact_key(const NamedRow& row) const {
    const schema::Table& table = *statement_.table;
    if (table.compact != schema::Compact::dense || table.clustering_count != 1) return {};
    SIBYL_ASSIGN(const std::vector<Bytes> values,
                 plan::clustering_values(table, row.clustering, row.original));
    if (!values.empty() && !values[0].empty()) return {};
    return base::invalid("Invalid empty or null value for column " + table.clustering(0).name);
  }

  // A row of a compact table has no marker. If no value column was declared, the row has the hidden one.
  base::Status set_compact_value() {
    const schema::Column& column = statement_.table->columns.back();
    if (column.is_hidden) return cells_.set(column, ValueView::of({}));
    return base::invalid(fmt::format("Column {} is mandatory for this COMPACT STORAGE table", column.name));
  }

  base::Status guard_values() {
    if (space_.guardrails == nullptr || !space_.guardrails->limits_values()) return {};
    return check_values(*statement_.table, space_.fragment, *space_.guardrails, space_.warnings);
  }

  base::Status write_static(const Bytes& prefix) {
    fresh();
    SIBYL_TRY(apply(statement_.static_operations, prefix, nullptr));
    if (statement_.json) SIBYL_TRY(apply_json(true));
    SIBYL_TRY(guard_values());
    return merge(prefix, row::partition_record_key(prefix));
  }

  base::Status apply(const std::vector<Operation>& operations, const Bytes& prefix, const NamedRow* row) {
    for (const Operation& operation : operations) {
      const row::Fragment* existing = nullptr;
      if (operation.reads_first()) {
        if (operation.column->type->is_counter()) {
          SIBYL_TRY(before_->counters.add(operation, prefix, row, bindings_, space_.scratch));
          continue;
        }
        SIBYL_ASSIGN(existing,
                     row ? before_->reads.row(prefix, row->clustering) : before_->reads.static_row(prefix));
      }
      SIBYL_TRY(cells_.apply(operation, existing));
    }
    return {};
  }

  bool writes_static_json() const { return statement_.json && statement_.table->has_static(); }

  base::Status apply_json(bool statics) {
    const schema::Table& table = *statement_.table;
    for (size_t i = 0; i < table.columns.size(); ++i) {
      const schema::Column& column = table.columns[i];
      if (column.is_primary_key() || column.is_static() != statics) continue;
      SIBYL_TRY(cells_.set(column, targets_.json_values[i]));
    }
    return {};
  }

  const Modification& statement_;
  const Targets& targets_;
  const plan::Bindings& bindings_;
  const WriteContext& context_;
  Before* before_;
  Workspace& space_;
  storage::WriteSet& writes_;
  CellWriter cells_;
};

}  // namespace

base::Status resolve_partitions(const Modification& statement, const plan::Bindings& bindings,
                                Workspace& space, Targets& targets) {
  if (statement.json) {
    SIBYL_TRY(read_json(statement, bindings, space.scratch, targets.json_values));
    return add_partition(statement,
                         std::span(targets.json_values).first(statement.table->partition_key_count), targets);
  }
  if (statement.where) {
    SIBYL_ASSIGN(const std::vector<Bytes> keys,
                 plan::partition_keys(*statement.where, bindings, space.scratch));
    for (const Bytes& key : keys)
      targets.prefixes.push_back(row::partition_prefix(statement.table->storage_id, key));
    return {};
  }
  SIBYL_ASSIGN(const auto values, evaluate_all(statement.partition_key, bindings, space));
  return add_partition(statement, values, targets);
}

base::Status resolve_rows(const Modification& statement, const plan::Bindings& bindings, Workspace& space,
                          Targets& targets) {
  if (statement.where) return resolve_where_rows(statement, bindings, space, targets);
  if (statement.json) {
    const schema::Table& table = *statement.table;
    return add_row(statement,
                   std::span(targets.json_values).subspan(table.partition_key_count, table.clustering_count),
                   space, targets);
  }
  targets.deletes_partitions = statement.deletes_rows() && !statement.names_rows;
  SIBYL_ASSIGN(const auto values, evaluate_all(statement.clustering, bindings, space));
  return add_row(statement, values, space, targets);
}

base::Status resolve_targets(const Modification& statement, const plan::Bindings& bindings, Workspace& space,
                             Targets& targets, size_t& named) {
  SIBYL_TRY(resolve_partitions(statement, bindings, space, targets));
  SIBYL_TRY(resolve_rows(statement, bindings, space, targets));
  return statement.where ? check_targets(targets, named) : base::Status();
}

base::Status build_writes(const Modification& statement, const Targets& targets,
                          const plan::Bindings& bindings, const WriteContext& context, Before* before,
                          Workspace& space, storage::WriteSet& writes) {
  if (targets.names_range && !targets.prefixes.empty())
    return base::invalid("Range deletions are not supported for specific columns");
  // If no rows are named (c IN (), c > 1 AND c < 1), static columns stay unchanged as well.
  const bool names_none = statement.names_rows ? targets.rows.empty() : !statement.row_operations.empty();
  if (names_none) return {};
  return Builder(statement, targets, bindings, context, before, space, writes).build();
}

}  // namespace sibyl::execute
