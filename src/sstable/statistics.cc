#include "sstable/statistics.h"

#include <fmt/format.h>
#include <zlib.h>

#include "sstable/cursor.h"
#include "sstable/files.h"
#include "types/type_name.h"

namespace sibyl::sstable {
namespace {

constexpr uint32_t header_component = 3;
constexpr uint32_t max_components = 64;
constexpr uint32_t max_columns = 65'536;
// Times are relative to 2015-09-22, so that they take few bytes.
constexpr int64_t epoch_seconds = 1'442'880'000;

uint32_t checksum(base::BytesView bytes) {
  return static_cast<uint32_t>(
      ::crc32(0, reinterpret_cast<const Bytef*>(bytes.data()), static_cast<uInt>(bytes.size())));
}

// Returns the bytes of the header component, and their offset.
base::Result<std::pair<base::BytesView, uint64_t>> find_component(base::BytesView bytes,
                                                                  const std::string& file) {
  Cursor cursor(bytes);
  const auto count = cursor.big_endian<uint32_t>();
  if (!cursor.ok() || count > max_components)
    return base::fail(damage(file, 0, "a wrong number of components"));
  cursor.take(4);
  uint64_t begin = 0, end = bytes.size();
  for (uint32_t i = 0; i < count; ++i) {
    const auto kind = cursor.big_endian<uint32_t>();
    const auto offset = cursor.big_endian<uint32_t>();
    if (begin != 0 && end == bytes.size()) end = offset;
    if (kind == header_component) begin = offset;
  }
  const uint64_t table_size = cursor.offset();
  const auto stored = cursor.big_endian<uint32_t>();
  if (!cursor.ok()) return base::fail(damage(file, bytes.size(), "the table of components is incomplete"));
  // The checksum covers the count and the table, but not the count's own checksum between them.
  const std::string covered = base::Bytes(bytes.substr(0, 4)) + base::Bytes(bytes.substr(8, table_size - 8));
  if (stored != checksum(covered))
    return base::fail(damage(file, table_size, "a wrong checksum of the components"));
  if (begin < table_size || end > bytes.size() || end < begin + 4)
    return base::fail(damage(file, 8, "no serialization header"));
  const base::BytesView component = bytes.substr(begin, end - begin - 4);
  if (checksum(component) != base::read_big_endian<uint32_t>(bytes.substr(end - 4)))
    return base::fail(damage(file, begin, "a wrong checksum of the serialization header"));
  return std::pair(component, begin);
}

types::TypePtr read_type(Cursor& cursor) {
  return types::parse_class_name(cursor.sized());
}

bool read_columns(Cursor& cursor, std::vector<HeaderColumn>& columns) {
  const uint32_t count = cursor.count();
  if (count > max_columns) return false;
  for (uint32_t i = 0; i < count && cursor.ok(); ++i) {
    const std::string name(cursor.sized());
    columns.push_back({name, read_type(cursor)});
    if (columns.back().type == nullptr) return false;
  }
  return cursor.ok();
}

bool read_clustering(Cursor& cursor, Header& header) {
  const uint32_t count = cursor.count();
  if (count > max_columns) return false;
  for (uint32_t i = 0; i < count && cursor.ok(); ++i) {
    const std::string_view name = cursor.sized();
    header.clustering.push_back(types::parse_class_name(name));
    if (header.clustering.back() == nullptr) return false;
    header.is_descending.push_back(name.starts_with("ReversedType(") ||
                                   name.starts_with("org.apache.cassandra.db.marshal.ReversedType("));
  }
  return cursor.ok();
}

}  // namespace

base::Result<Header> parse_statistics(base::BytesView bytes, const std::string& file) {
  SIBYL_ASSIGN(const auto found, find_component(bytes, file));
  Cursor cursor(found.first);
  Header header;
  header.min_timestamp =
      static_cast<int64_t>(cursor.vint() + static_cast<uint64_t>(epoch_seconds) * 1'000'000);
  header.min_local_deletion_time = static_cast<uint32_t>(cursor.vint() + epoch_seconds);
  header.min_time_to_live = static_cast<uint32_t>(cursor.vint());
  header.key_type = std::string(cursor.sized());
  const bool is_read = read_clustering(cursor, header) && read_columns(cursor, header.static_columns) &&
                       read_columns(cursor, header.columns);
  if (!is_read || !cursor.ok())
    return base::fail(damage(file, found.second + cursor.offset(), "a malformed serialization header"));
  return header;
}

}  // namespace sibyl::sstable
