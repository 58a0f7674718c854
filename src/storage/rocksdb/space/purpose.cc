#include "storage/rocksdb/space/purpose.h"

#include <algorithm>
#include <limits>

#include "row/fragment.h"
#include "row/record_key.h"

namespace sibyl::storage::rocksdb {
namespace {

using Action = WriteSet::Action;

uint32_t table_of(const WriteSet::Operation& operation) {
  constexpr size_t table_id_size = 4;
  if (operation.key.size() < table_id_size) return std::numeric_limits<uint32_t>::max();
  return base::read_big_endian<uint32_t>(operation.key);
}

bool adds_nothing(const WriteSet::Operation& operation) {
  if (operation.action == Action::erase) return true;
  row::Fragment fragment;
  if (operation.action != Action::merge || !row::decode(operation.value, fragment)) return false;
  return !fragment.marker.exists() &&
         std::all_of(fragment.cells.begin(), fragment.cells.end(),
                     [](const row::Cell& cell) { return cell.kind == row::CellKind::tombstone; });
}

}  // namespace

Purpose purpose_of(const WriteSet& writes) {
  bool is_catalogue = false, is_users = false, only_removes = true;
  for (const WriteSet::Operation& operation : writes.operations()) {
    if (operation.action == Action::erase_range) return Purpose::definition;
    const uint32_t table = table_of(operation);
    is_catalogue = is_catalogue || table == row::catalogue_table_id;
    is_users = is_users || table >= PurgePolicy::first_table_id;
    only_removes = only_removes && adds_nothing(operation);
  }
  if (is_catalogue && !is_users) return Purpose::definition;
  return only_removes ? Purpose::deletion : Purpose::ordinary;
}

}  // namespace sibyl::storage::rocksdb
