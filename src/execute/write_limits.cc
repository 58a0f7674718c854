#include "execute/write_limits.h"

#include <fmt/format.h>

#include <algorithm>

#include "plan/terms/combinations.h"
#include "row/record_key.h"
#include "types/keys/key.h"
#include "types/print_value.h"

namespace sibyl::execute {

base::Status check_values(const schema::Table& table, const row::Fragment& fragment,
                          const plan::Guardrails& guardrails, std::vector<std::string>& warnings) {
  // Cells of one column are adjacent.
  for (size_t first = 0; first < fragment.cells.size();) {
    const schema::Column* column = table.find_by_id(fragment.cells[first].column);
    int64_t size = 0, items = 0;
    size_t next = first;
    for (; next < fragment.cells.size() && fragment.cells[next].column == fragment.cells[first].column;
         ++next) {
      const row::Cell& cell = fragment.cells[next];
      const auto longest = static_cast<int64_t>(std::max(cell.value.size(), cell.path.size()));
      SIBYL_TRY(plan::guard(guardrails, plan::column_value_guard, longest, column->name, warnings));
      size += static_cast<int64_t>(cell.value.size() + cell.path.size());
      items += cell.kind == row::CellKind::tombstone ? 0 : 1;
    }
    if (column->type->is_collection() && column->type->is_multi_cell()) {
      SIBYL_TRY(plan::guard(guardrails, plan::collection_items_guard, items, column->name, warnings));
      SIBYL_TRY(plan::guard(guardrails, plan::collection_size_guard, size, column->name, warnings));
    } else if (column->type->is_collection()) {
      SIBYL_TRY(plan::guard(guardrails, plan::collection_size_guard, size, column->name, warnings));
    }
    first = next;
  }
  return {};
}

base::Status check_timestamp(const schema::Table& table, const WriteContext& context,
                             const plan::Guardrails& guardrails, std::vector<std::string>& warnings) {
  // The thresholds are relative to the current time, but the texts contain absolute times.
  plan::Guardrails absolute;
  const auto shifted = [&](int64_t distance, int64_t sign) {
    return distance > 0 ? context.now_micros + sign * distance : -1;
  };
  absolute.maximum_timestamp = {shifted(guardrails.maximum_timestamp.warn, 1),
                                shifted(guardrails.maximum_timestamp.fail, 1)};
  absolute.minimum_timestamp = {shifted(guardrails.minimum_timestamp.warn, -1),
                                shifted(guardrails.minimum_timestamp.fail, -1)};
  SIBYL_TRY(plan::guard(absolute, plan::maximum_timestamp_guard, context.timestamp, table.name, warnings));
  return plan::guard(absolute, plan::minimum_timestamp_guard, context.timestamp, table.name, warnings);
}

namespace {

std::string key_text(const schema::Table& table, BytesView prefix) {
  Bytes key;
  if (!row::decode_partition_key(prefix, key)) return "0x" + base::to_hex(prefix);
  if (table.partition_key_count == 1) return types::to_literal(*table.partition_key(0).type, key);
  const auto parts = types::split_partition_key(key, table.partition_key_count);
  if (!parts) return "0x" + base::to_hex(key);
  std::string text;
  for (size_t i = 0; i < parts->size(); ++i)
    text += (i == 0 ? "" : ":") + types::to_literal(*table.partition_key(i).type, (*parts)[i]);
  return text;
}

}  // namespace

base::Status check_write_size(const schema::Table& table, BytesView prefix, const storage::WriteSet& writes) {
  const size_t size = writes.byte_size() + writes.operations().size() * sizeof(storage::WriteSet::Operation);
  if (size <= max_write_bytes) return {};
  return base::fail(
      base::Error(base::ErrorCode::invalid,
                  fmt::format("Rejected an oversized mutation ({}/{}) for keyspace: {}. Top keys are: {}.{}",
                              size, max_write_bytes, table.keyspace, table.name, key_text(table, prefix)))
          .with_hint("a statement or batch is committed as a whole; split it into several"));
}

base::Status check_targets(const Targets& targets, size_t& named) {
  const size_t in_each = std::max<size_t>(targets.rows.size() + targets.ranges.size(), 1);
  constexpr size_t max_combinations = plan::max_combinations_written;
  SIBYL_TRY(plan::check_combinations(targets.prefixes.size(), in_each, max_combinations));
  named += targets.prefixes.size() * in_each;
  return plan::check_combinations(named, 1, max_combinations);
}

}  // namespace sibyl::execute
