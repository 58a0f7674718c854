#include "engine/builds/shard_build.h"

#include "row/fragment.h"
#include "row/record_key.h"

namespace sibyl::engine {
namespace {

using base::Bytes;
using base::BytesView;

constexpr BytesView done_value = "done";

Bytes build_record(BytesView value) {
  row::Fragment fragment;
  row::Cell cell;
  cell.column = 1;
  cell.timestamp = 1;
  cell.value = value;
  fragment.cells.push_back(cell);
  Bytes encoded;
  row::encode(fragment, encoded);
  return encoded;
}

}  // namespace

Bytes shard_build_key(uint32_t index_id, const storage::EntryRun& run) {
  return row::partition_record_key(row::partition_prefix(index_id, run.token, {}));
}

storage::WriteSet begin_shard_build(uint32_t index_id, const storage::EntryRun& run, BytesView attempt) {
  storage::WriteSet writes;
  writes.erase_range(row::token_begin(index_id, run.token), row::token_end(index_id, run.token));
  writes.put(shard_build_key(index_id, run), build_record(attempt));
  return writes;
}

storage::WriteSet end_shard_build(uint32_t index_id, const storage::EntryRun& run) {
  storage::WriteSet writes;
  writes.put(shard_build_key(index_id, run), build_record(done_value));
  return writes;
}

base::Result<bool> is_shard_build(const storage::Store& store, uint32_t index_id,
                                  const storage::EntryRun& run, BytesView attempt) {
  Bytes value;
  SIBYL_ASSIGN(const bool exists, store.get(shard_build_key(index_id, run), value));
  return exists && value == build_record(attempt);
}

base::Result<bool> is_shard_built(const storage::Store& store, uint32_t index_id,
                                  const storage::EntryRun& run) {
  return is_shard_build(store, index_id, run, done_value);
}

Bytes view_build_key(uint32_t view_id, const storage::EntryRun& run) {
  Bytes id;
  base::append_big_endian(id, view_id);
  return row::row_record_key(row::partition_prefix(view_builds_table_id, run.token, {}), id);
}

base::Result<std::vector<uint32_t>> recorded_view_builds(const storage::Store& store,
                                                         const storage::EntryRun& run) {
  std::vector<uint32_t> views;
  const auto records = store.iterate(row::token_begin(view_builds_table_id, run.token),
                                     row::token_end(view_builds_table_id, run.token));
  for (records->seek_to_first(); records->valid(); records->next()) {
    const BytesView key = records->key();
    if (key.size() >= sizeof(uint32_t))
      views.push_back(base::read_big_endian<uint32_t>(key.substr(key.size() - sizeof(uint32_t))));
  }
  SIBYL_TRY(records->status());
  return views;
}

}  // namespace sibyl::engine
