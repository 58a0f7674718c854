#include "row/record_key.h"

#include <cstring>
#include <limits>

#include "base/check.h"
#include "base/memory.h"
#include "types/keys/key.h"
#include "types/keys/key_decode.h"
#include "types/keys/murmur3.h"

namespace sibyl::row {
namespace {

constexpr size_t table_id_size = 4;
constexpr size_t token_size = 8;
constexpr size_t partition_key_at = table_id_size + token_size;

// Returns the end of a raw component, or npos if it is incomplete. In types::encode_raw_key a zero byte is
// followed by 0xff inside of a component and by 0x01 at its end.
size_t raw_component_end(BytesView key, size_t at) {
  while (at < key.size()) {
    // In numbers several zeros follow each other. There, calls of memchr would cost more than this check.
    if (key[at] != 0) {
      const void* zero = std::memchr(key.data() + at, 0, key.size() - at);
      if (zero == nullptr) return BytesView::npos;
      at = static_cast<size_t>(static_cast<const char*>(zero) - key.data());
    }
    if (++at == key.size()) return BytesView::npos;
    const auto next = static_cast<uint8_t>(key[at++]);
    if (next == 0x01) return at;
    if (next != 0xff) return BytesView::npos;
  }
  return BytesView::npos;
}

// Decodes `raw` into `value` if it is exactly one component. Otherwise returns false.
bool decode_whole_component(BytesView raw, Bytes& value) {
  bool is_whole = false;
  value.resize_and_overwrite(raw.size(), [&](char* out, size_t) -> size_t {
    char* const begin = out;
    for (size_t at = 0; at < raw.size();) {
      const char byte = raw[at++];
      if (byte != 0) {
        *out++ = byte;
        continue;
      }
      if (at == raw.size()) break;
      const auto next = static_cast<uint8_t>(raw[at++]);
      if (next != 0xff) {
        is_whole = next == 0x01 && at == raw.size();
        break;
      }
      *out++ = 0;
    }
    return static_cast<size_t>(out - begin);
  });
  return is_whole;
}

Bytes with_kind(BytesView partition_prefix, RecordKind kind, size_t room) {
  Bytes key;
  key.reserve(partition_prefix.size() + 1 + room);
  key.append(partition_prefix);
  key.push_back(static_cast<char>(kind));
  return key;
}

}  // namespace

Bytes partition_prefix(uint32_t table_id, BytesView serialised_partition_key) {
  return partition_prefix(table_id, types::murmur3_token(serialised_partition_key), serialised_partition_key);
}

Bytes partition_prefix(uint32_t table_id, int64_t token, BytesView serialised_partition_key) {
  Bytes key;
  // Reserves space for the kind and a short clustering key, because most prefixes become record keys.
  key.reserve(partition_key_at + serialised_partition_key.size() + 24);
  base::append_big_endian(key, table_id);
  types::encode_token(token, key);
  types::encode_raw_key(serialised_partition_key, key);
  return key;
}

Bytes partition_record_key(BytesView partition_prefix) {
  return with_kind(partition_prefix, RecordKind::partition, 0);
}

Bytes row_record_key(BytesView partition_prefix, BytesView clustering) {
  Bytes key = with_kind(partition_prefix, RecordKind::row, clustering.size());
  key.append(clustering);
  return key;
}

Bytes row_record_key(Bytes&& partition_prefix, BytesView clustering) {
  Bytes key = std::move(partition_prefix);
  key.push_back(static_cast<char>(RecordKind::row));
  key.append(clustering);
  return key;
}

Bytes range_deletion_record_key(BytesView partition_prefix, BytesView begin, std::optional<BytesView> end) {
  Bytes key =
      with_kind(partition_prefix, RecordKind::range_deletion, begin.size() + (end ? end->size() : 0) + 4);
  types::encode_raw_key(begin, key);
  if (end) types::encode_raw_key(*end, key);
  return key;
}

std::optional<Bytes> after(BytesView prefix) {
  const size_t last = prefix.find_last_not_of('\xff');
  if (last == BytesView::npos) return std::nullopt;
  Bytes next(prefix.substr(0, last + 1));
  next.back() = static_cast<char>(static_cast<uint8_t>(next.back()) + 1);
  return next;
}

Bytes table_begin(uint32_t table_id) {
  Bytes key;
  base::append_big_endian(key, table_id);
  return key;
}

Bytes table_end(uint32_t table_id) {
  SIBYL_CHECK(table_id != std::numeric_limits<uint32_t>::max());
  return table_begin(table_id + 1);
}

Bytes token_begin(uint32_t table_id, int64_t token) {
  Bytes key = table_begin(table_id);
  types::encode_token(token, key);
  return key;
}

Bytes token_end(uint32_t table_id, int64_t token) {
  const auto end = after(token_begin(table_id, token));
  return end ? *end : table_end(table_id);
}

bool parse_record_key(BytesView key, RecordKey& parsed) noexcept {
  const size_t end = raw_component_end(key, partition_key_at);
  if (end == BytesView::npos || end >= key.size()) return false;
  const auto kind = static_cast<uint8_t>(key[end]);
  if (kind > static_cast<uint8_t>(RecordKind::row)) return false;
  parsed.table_id = base::read_big_endian<uint32_t>(key);
  parsed.token = types::decode_token(key.substr(table_id_size, token_size));
  parsed.prefix_size = end;
  parsed.kind = static_cast<RecordKind>(kind);
  parsed.rest = key.substr(end + 1);
  return true;
}

bool decode_partition_key(BytesView partition_prefix, Bytes& serialised) {
  const base::DeferredMemoryLimit deferred;
  return partition_prefix.size() > partition_key_at &&
         decode_whole_component(partition_prefix.substr(partition_key_at), serialised);
}

bool decode_range_bounds(BytesView rest, Bytes& begin, std::optional<Bytes>& end) {
  const base::DeferredMemoryLimit deferred;
  if (raw_component_end(rest, 0) == BytesView::npos) return false;
  auto decoded_begin = types::decode_raw_key(rest);
  if (!decoded_begin) return false;
  begin = std::move(*decoded_begin);
  end.reset();
  if (rest.empty()) return true;
  if (raw_component_end(rest, 0) != rest.size()) return false;
  auto decoded_end = types::decode_raw_key(rest);
  if (!decoded_end) return false;
  end = std::move(*decoded_end);
  return true;
}

}  // namespace sibyl::row
