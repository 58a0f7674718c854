#include "execute/modify_limits.h"

#include <algorithm>

namespace sibyl::execute {

base::Status check_values(const schema::Table& table, const row::Fragment& fragment,
                          const plan::Guardrails& guardrails, std::vector<std::string>& warnings) {
  // Cells of one column stand together.
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

base::Status check_timestamp(const schema::Table& table, const Moment& moment,
                             const plan::Guardrails& guardrails, std::vector<std::string>& warnings) {
  // The thresholds are distances from now; the texts name moments.
  plan::Guardrails absolute;
  const auto shifted = [&](int64_t distance, int64_t sign) {
    return distance > 0 ? moment.now_micros + sign * distance : -1;
  };
  absolute.maximum_timestamp = {shifted(guardrails.maximum_timestamp.warn, 1),
                                shifted(guardrails.maximum_timestamp.fail, 1)};
  absolute.minimum_timestamp = {shifted(guardrails.minimum_timestamp.warn, -1),
                                shifted(guardrails.minimum_timestamp.fail, -1)};
  SIBYL_TRY(plan::guard(absolute, plan::maximum_timestamp_guard, moment.timestamp, table.name, warnings));
  return plan::guard(absolute, plan::minimum_timestamp_guard, moment.timestamp, table.name, warnings);
}

}  // namespace sibyl::execute
