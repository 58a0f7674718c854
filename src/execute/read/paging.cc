#include "execute/read/paging.h"

namespace sibyl::execute {

namespace {

constexpr char magic = 'S';
constexpr char version = 1;

// Computes FNV-1a, which detects damage but not forgery.
uint32_t checksum(BytesView bytes) {
  uint32_t hash = 2166136261u;
  for (const char c : bytes) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619u;
  return hash;
}

}  // namespace

Bytes encode_paging_state(const schema::Table& table, const PagingState& state) {
  Bytes bytes;
  bytes.push_back(magic);
  bytes.push_back(version);
  base::append_varint(bytes, table.storage_id);
  base::append_sized(bytes, state.position.partition_key);
  bytes.push_back(state.position.clustering ? 1 : 0);
  if (state.position.clustering) base::append_sized(bytes, *state.position.clustering);
  base::append_signed_varint(bytes, state.remaining);
  base::append_signed_varint(bytes, state.remaining_in_partition);
  base::append_big_endian(bytes, checksum(bytes));
  return bytes;
}

base::Result<PagingState> decode_paging_state(const schema::Table& table, BytesView bytes) {
  const auto refused = [] { return base::invalid("Invalid value for the paging state"); };
  if (bytes.size() < 6 || bytes[0] != magic || bytes[1] != version) return refused();
  const BytesView body = bytes.substr(0, bytes.size() - 4);
  if (base::read_big_endian<uint32_t>(bytes.substr(body.size())) != checksum(body)) return refused();
  base::Reader reader(body.substr(2));
  PagingState state;
  uint64_t table_id = 0;
  BytesView key, clustering, has_clustering;
  reader.varint(table_id);
  reader.sized(key);
  if (!reader.take(1, has_clustering)) return refused();
  if (has_clustering[0] != 0) {
    reader.sized(clustering);
    state.position.clustering = Bytes(clustering);
  }
  reader.signed_varint(state.remaining);
  reader.signed_varint(state.remaining_in_partition);
  if (!reader.ok() || !reader.at_end() || table_id != table.storage_id) return refused();
  if (state.remaining <= 0 || state.remaining_in_partition < 0) return refused();
  state.position.partition_key = Bytes(key);
  return state;
}

}  // namespace sibyl::execute
