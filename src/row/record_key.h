// Record keys: table id · token · partition key · kind · clustering key, compared as bytes.
//
// A partition is one contiguous run of records; a clustering slice is one run within it. Layout
// (docs/storage-format.md):
//
//   4 bytes  table id, big-endian; 0 is the catalogue
//   8 bytes  token, biased
//   …        partition key: types::encode_raw_key of the serialised key
//   1 byte   kind
//   …        row: the clustering key's order-preserving bytes (types::encode_key of each component)
//            range deletion: types::encode_raw_key(begin), then encode_raw_key(end), or nothing if unbounded
//
// A clustering interval is a half-open interval [begin, end) of clustering bytes. No encoded component is a
// prefix of another, so "all rows with this prefix" is [prefix, after(prefix)).
#pragma once

#include <cstdint>
#include <optional>

#include "base/bytes.h"

namespace sibyl::row {

using base::Bytes;
using base::BytesView;

enum class RecordKind : uint8_t {
  partition = 0,  // the partition's deletion and its static row
  range_deletion = 1,
  row = 2,
};

inline constexpr uint32_t catalogue_table_id = 0;

// The bytes shared by all records of a partition (everything before the kind).
Bytes partition_prefix(uint32_t table_id, BytesView serialised_partition_key);
Bytes partition_prefix(uint32_t table_id, int64_t token, BytesView serialised_partition_key);

Bytes partition_record_key(BytesView partition_prefix);
Bytes row_record_key(BytesView partition_prefix, BytesView clustering);
Bytes row_record_key(Bytes&& partition_prefix, BytesView clustering);
Bytes range_deletion_record_key(BytesView partition_prefix, BytesView begin, std::optional<BytesView> end);

// Returns the smallest byte string above all strings that begin with `prefix`, or nullopt if there is none.
std::optional<Bytes> after(BytesView prefix);

// Bounds of scans. Token bounds are inclusive. REQUIRES: `table_id` is not the largest id, which is never
// assigned.
Bytes table_begin(uint32_t table_id);
Bytes table_end(uint32_t table_id);
Bytes token_begin(uint32_t table_id, int64_t token);
Bytes token_end(uint32_t table_id, int64_t token);

// A parsed record key. `rest` points into the parsed bytes.
struct RecordKey {
  uint32_t table_id = 0;
  int64_t token = 0;
  size_t prefix_size = 0;  // size of the partition prefix
  RecordKind kind = RecordKind::row;
  BytesView rest;  // after the kind: the clustering bytes, or the range deletion's bounds

  BytesView prefix(BytesView key) const { return key.substr(0, prefix_size); }
};
// Returns false if the bytes are not a record key. Cheap: does not decode the partition key.
bool parse_record_key(BytesView key, RecordKey& parsed) noexcept;
// Decodes the serialised partition key from a partition prefix. Returns false if the bytes are malformed.
bool decode_partition_key(BytesView partition_prefix, Bytes& serialised);
// Decodes the bounds of a range deletion from RecordKey::rest. Returns false if the bytes are malformed.
bool decode_range_bounds(BytesView rest, Bytes& begin, std::optional<Bytes>& end);

}  // namespace sibyl::row
