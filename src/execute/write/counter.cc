#include "execute/write/counter.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "plan/evaluation/clustering.h"
#include "row/counter.h"
#include "row/record_key.h"
#include "types/value.h"

namespace sibyl::execute {

namespace {

int64_t wrapping_add(int64_t left, int64_t right) {
  return static_cast<int64_t>(static_cast<uint64_t>(left) + static_cast<uint64_t>(right));
}

const row::Cell* find_cell(const row::Fragment& fragment, uint32_t column) {
  for (const row::Cell& cell : fragment.cells)
    if (cell.column == column) return &cell;
  return nullptr;
}

}  // namespace

base::Status CounterTally::add(const plan::Operation& operation, BytesView partition_prefix,
                               const plan::NamedRow* row, const plan::Bindings& bindings,
                               plan::Scratch& scratch) {
  SIBYL_ASSIGN(const types::ValueView value, operation.value->evaluate(bindings, scratch));
  if (value.is_unset()) return {};
  if (value.is_null() || value.bytes.size() != 8)
    return base::invalid("Invalid null value for counter increment");
  int64_t delta = types::decode_integer(types::Kind::counter, value.bytes);
  if (operation.kind == plan::Operation::Kind::subtract_counter) {
    if (delta == std::numeric_limits<int64_t>::min()) {
      return base::invalid(fmt::format(
          "The negation of {} overflows supported counter precision (signed 8 bytes integer)", delta));
    }
    delta = -delta;
  }
  const Bytes key = row ? row::row_record_key(partition_prefix, row->clustering)
                        : row::partition_record_key(partition_prefix);
  auto [found, is_new] = rows_.try_emplace(key);
  Row& entry = found->second;
  if (is_new) {
    entry.prefix = partition_prefix;
    entry.is_static = row == nullptr;
    if (row) entry.named = *row;
  }
  int64_t& sum = entry.deltas[operation.column->id];
  sum = wrapping_add(sum, delta);
  return {};
}

// A missing counter may have been deleted when the clock was ahead of the current time. The first increment
// must be later than that deletion.
base::Result<int64_t> CounterTally::after_deletions(ReadBefore& reads, const Row& row, int64_t now_micros) {
  SIBYL_ASSIGN(const int64_t latest, row.is_static ? reads.latest_of_statics(row.prefix)
                                                   : reads.latest_of_row(row.prefix, row.named.clustering));
  if (latest == std::numeric_limits<int64_t>::max())
    return base::invalid(
        fmt::format("The counter was deleted with timestamp {}, and there is no later one", latest));
  return std::max(latest + 1, now_micros);
}

base::Status CounterTally::write(ReadBefore& reads, int64_t now_micros, storage::WriteSet& writes) {
  for (const auto& [key, entry] : rows_) {
    SIBYL_ASSIGN(const row::Fragment* existing, entry.is_static
                                                    ? reads.static_row(entry.prefix)
                                                    : reads.row(entry.prefix, entry.named.clustering));
    row::Fragment fragment;
    fragment.original_clustering = entry.named.original;
    std::vector<Bytes> values;
    values.reserve(entry.deltas.size());
    for (const auto& [column, delta] : entry.deltas) {
      const row::Cell* current = find_cell(*existing, column);
      int64_t timestamp_micros = now_micros;
      if (current == nullptr) {
        SIBYL_ASSIGN(timestamp_micros, after_deletions(reads, entry, now_micros));
      }
      const row::CounterUpdate update = row::increment(current, delta, timestamp_micros);
      row::Cell& cell = fragment.cells.emplace_back();
      cell.column = column;
      cell.kind = row::CellKind::counter;
      cell.timestamp = update.timestamp;
      cell.value = values.emplace_back(row::encode_counter(update.counter));
    }
    Bytes encoded;
    row::encode(fragment, encoded);
    writes.merge(key, std::move(encoded));
  }
  return {};
}

}  // namespace sibyl::execute
