#include "engine/intents/batch_messages.h"

#include <utility>

#include "row/fragment.h"

namespace sibyl::engine {
namespace {

using base::Bytes;
using base::BytesView;
using storage::WriteSet;

constexpr uint8_t part_version = 1;

base::Error unreadable_part() {
  return base::Error(base::ErrorCode::server, "A part of a batch cannot be read")
      .with_hint("all servers of a cluster need the same version");
}

// Fragments are not sorted by timestamp, so a fragment stays canonical as long as equal timestamps stay
// equal.
void change_timestamp(row::Fragment& fragment, int64_t from, int64_t to) {
  const auto change = [&](int64_t& timestamp) {
    if (timestamp == from) timestamp = to;
  };
  if (fragment.marker.exists()) change(fragment.marker.timestamp);
  if (fragment.deletion.exists()) change(fragment.deletion.timestamp);
  for (row::ColumnDeletion& column : fragment.column_deletions) {
    // An assignment of a whole collection deletes older elements, with a timestamp one below its own.
    if (column.deletion.timestamp == from - 1) column.deletion.timestamp = to - 1;
    change(column.deletion.timestamp);
  }
  for (row::Cell& cell : fragment.cells) change(cell.timestamp);
}

}  // namespace

Bytes BatchPart::encode() const {
  Bytes out(1, static_cast<char>(part_version));
  base::append_big_endian(out, static_cast<uint64_t>(timestamp));
  base::append_varint(out, merges.operations().size());
  for (const WriteSet::Operation& operation : merges.operations()) {
    base::append_sized(out, operation.key);
    base::append_sized(out, operation.value);
  }
  return out;
}

base::Result<BatchPart> BatchPart::decode(BytesView bytes) {
  base::Reader reader(bytes);
  BatchPart part;
  uint8_t version = 0;
  uint64_t timestamp = 0, count = 0;
  if (!reader.big_endian(version) || version != part_version || !reader.big_endian(timestamp) ||
      !reader.varint(count))
    return base::fail(unreadable_part());
  part.timestamp = static_cast<int64_t>(timestamp);
  for (uint64_t i = 0; i < count; ++i) {
    BytesView key, value;
    if (!reader.sized(key) || !reader.sized(value)) return base::fail(unreadable_part());
    part.merges.merge(Bytes(key), Bytes(value));
  }
  if (!reader.at_end()) return base::fail(unreadable_part());
  return part;
}

base::Status change_timestamp(BatchPart& part, int64_t timestamp) {
  WriteSet changed;
  row::Fragment fragment;
  for (WriteSet::Operation& operation : std::move(part.merges).take()) {
    if (!row::decode(operation.value, fragment)) return base::fail(unreadable_part());
    change_timestamp(fragment, part.timestamp, timestamp);
    Bytes value;
    row::encode(fragment, value);
    changed.merge(std::move(operation.key), std::move(value));
  }
  part.merges = std::move(changed);
  part.timestamp = timestamp;
  return {};
}

}  // namespace sibyl::engine
