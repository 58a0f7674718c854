#include "cli/import_sstables/counter_value.h"

#include <cstdlib>
#include <limits>

#include "sstable/cursor.h"

namespace sibyl::cli::import_sstables {
namespace {

int64_t wrapping_sum(int64_t left, int64_t right) {
  return static_cast<int64_t>(static_cast<uint64_t>(left) + static_cast<uint64_t>(right));
}

}  // namespace

// Adds the value from its bytes: a number of flagged shards, their indexes (negative: global; otherwise
// local), then for each shard its node (16 bytes), clock and count.
bool CounterShards::add(base::BytesView context) {
  sstable::Cursor cursor(context);
  const int flagged = std::abs(int{static_cast<int16_t>(cursor.big_endian<uint16_t>())});
  std::map<size_t, Kind> kinds;
  for (int i = 0; i < flagged && cursor.ok(); ++i) {
    const auto index = static_cast<int16_t>(cursor.big_endian<uint16_t>());
    const bool is_global = index < 0;
    kinds[static_cast<size_t>(is_global ? index - std::numeric_limits<int16_t>::min() : index)] =
        is_global ? Kind::global : Kind::local;
  }
  for (size_t i = 0; cursor.ok() && !cursor.at_end(); ++i) {
    const base::Bytes node(cursor.take(16));
    Shard shard;
    if (const auto kind = kinds.find(i); kind != kinds.end()) shard.kind = kind->second;
    shard.clock = static_cast<int64_t>(cursor.big_endian<uint64_t>());
    shard.count = static_cast<int64_t>(cursor.big_endian<uint64_t>());
    if (!cursor.ok()) return false;
    const auto [known, is_new] = shards_.try_emplace(node, shard);
    if (!is_new) known->second = merge(known->second, shard);
  }
  return cursor.ok();
}

CounterShards::Shard CounterShards::merge(const Shard& left, const Shard& right) {
  if (left.kind != right.kind) return left.kind > right.kind ? left : right;
  if (left.kind == Kind::local)
    return {Kind::local, wrapping_sum(left.clock, right.clock), wrapping_sum(left.count, right.count)};
  return left.clock >= right.clock ? left : right;
}

int64_t CounterShards::total() const {
  int64_t sum = 0;
  for (const auto& [node, shard] : shards_) sum = wrapping_sum(sum, shard.count);
  return sum;
}

}  // namespace sibyl::cli::import_sstables
