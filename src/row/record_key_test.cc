#include "row/record_key.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <tuple>

#include "types/keys/murmur3.h"

namespace sibyl::row {
namespace {

struct Parts {
  uint32_t table = 0;
  int64_t token = 0;
  Bytes partition;
  RecordKind kind = RecordKind::row;
  Bytes clustering;  // the clustering bytes of a row, or the begin of a range deletion
  std::optional<Bytes> end;

  Bytes key() const {
    const Bytes prefix = partition_prefix(table, token, partition);
    if (kind == RecordKind::partition) return partition_record_key(prefix);
    if (kind == RecordKind::row) return row_record_key(prefix, clustering);
    return range_deletion_record_key(prefix, clustering, end ? std::optional<BytesView>(*end) : std::nullopt);
  }
  auto order() const { return std::tie(table, token, partition, kind, clustering, end); }
};

Bytes some_bytes() {
  Bytes bytes;
  for (int i = *rc::gen::inRange(0, 5); i > 0; --i)
    bytes.push_back(*rc::gen::element<char>('\0', '\x01', '\x02', 'a', '\xfe', '\xff'));
  return bytes;
}

Parts some_parts() {
  Parts parts;
  parts.table = *rc::gen::element<uint32_t>(0, 1, 255, 256, 0xfffffffe);
  parts.token = *rc::gen::element<int64_t>(INT64_MIN, -1, 0, 1, INT64_MAX);
  parts.partition = some_bytes();
  parts.kind = *rc::gen::element(RecordKind::partition, RecordKind::range_deletion, RecordKind::row);
  if (parts.kind != RecordKind::partition) parts.clustering = some_bytes();
  if (parts.kind == RecordKind::range_deletion && *rc::gen::arbitrary<bool>()) parts.end = some_bytes();
  return parts;
}

RC_GTEST_PROP(RecordKeyProperty, SortsAsItsParts, ()) {
  const Parts a = some_parts(), b = some_parts();
  RC_ASSERT((a.key() < b.key()) == (a.order() < b.order()));
  RC_ASSERT((a.key() == b.key()) == (a.order() == b.order()));
}

RC_GTEST_PROP(RecordKeyProperty, ComesApartAgain, ()) {
  const Parts parts = some_parts();
  const Bytes key = parts.key();
  RecordKey parsed;
  RC_ASSERT(parse_record_key(key, parsed));
  RC_ASSERT(parsed.table_id == parts.table);
  RC_ASSERT(parsed.token == parts.token);
  RC_ASSERT(parsed.kind == parts.kind);
  Bytes partition;
  RC_ASSERT(decode_partition_key(parsed.prefix(key), partition));
  RC_ASSERT(partition == parts.partition);
  if (parts.kind == RecordKind::row) RC_ASSERT(parsed.rest == parts.clustering);
  if (parts.kind == RecordKind::range_deletion) {
    Bytes begin;
    std::optional<Bytes> end;
    RC_ASSERT(decode_range_bounds(parsed.rest, begin, end));
    RC_ASSERT(begin == parts.clustering);
    RC_ASSERT(end == parts.end);
  }
}

RC_GTEST_PROP(RecordKeyProperty, LiesWithinTheBoundsOfItsTableTokenAndPartition, ()) {
  const Parts parts = some_parts();
  const Bytes key = parts.key();
  RC_ASSERT(table_begin(parts.table) <= key);
  RC_ASSERT(key < table_end(parts.table));
  RC_ASSERT(token_begin(parts.table, parts.token) <= key);
  RC_ASSERT(key < token_end(parts.table, parts.token));
  const Bytes prefix = partition_prefix(parts.table, parts.token, parts.partition);
  RC_ASSERT(prefix < key);
  RC_ASSERT(key < *after(prefix));
  if (parts.token != INT64_MAX)
    RC_ASSERT(token_end(parts.table, parts.token) <= token_begin(parts.table, parts.token + 1));
}

RC_GTEST_PROP(RecordKeyProperty, AfterIsTheLeastUpperBound, ()) {
  const Bytes prefix = some_bytes();
  const auto bound = after(prefix);
  if (!bound) {
    RC_ASSERT(prefix.find_first_not_of('\xff') == Bytes::npos);
    return;
  }
  RC_ASSERT(prefix + Bytes(10, '\xff') < *bound);
  const Bytes other = some_bytes();
  if (other > prefix && other.substr(0, prefix.size()) != prefix) RC_ASSERT(other >= *bound);
}

RC_GTEST_PROP(RecordKeyProperty, ParsesAnyBytes, (std::string bytes)) {
  RecordKey parsed;
  if (parse_record_key(bytes, parsed)) {
    Bytes partition, begin;
    std::optional<Bytes> end;
    RC_ASSERT(decode_partition_key(parsed.prefix(bytes), partition));
    decode_range_bounds(parsed.rest, begin, end);
  }
  Bytes partition, begin;
  std::optional<Bytes> end;
  decode_partition_key(bytes, partition);
  decode_range_bounds(bytes, begin, end);
}

TEST(RecordKey, TokenIsMurmur3OfThePartitionKey) {
  EXPECT_EQ(partition_prefix(7, "key"), partition_prefix(7, types::murmur3_token("key"), "key"));
}

TEST(RecordKey, RefusesInvalidKeys) {
  RecordKey parsed;
  const Bytes key = row_record_key(partition_prefix(7, "key"), "c");
  for (size_t size = 0; size + 1 < key.size(); ++size)
    EXPECT_FALSE(parse_record_key(BytesView(key).substr(0, size), parsed)) << size;
  Bytes unknown_kind = key;
  unknown_kind[parse_record_key(key, parsed) ? parsed.prefix_size : 0] = 3;
  EXPECT_FALSE(parse_record_key(unknown_kind, parsed));
}

}  // namespace
}  // namespace sibyl::row
