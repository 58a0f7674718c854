// Keys and fragments for tests of the row cache.
#pragma once

#include <memory>
#include <string>

#include "row/fragment.h"
#include "row/record_key.h"
#include "storage/store.h"

namespace sibyl::storage::rocksdb {

inline constexpr uint32_t test_table = PurgePolicy::first_table_id;

// Purges deletions of the table after a grace period of some seconds.
inline std::shared_ptr<const PurgePolicy> purge_policy() {
  auto policy = std::make_shared<PurgePolicy>();
  policy->tables = {{test_table, {3}}};
  return policy;
}

inline Bytes row_key(BytesView partition, BytesView clustering, uint32_t table = test_table) {
  return row::row_record_key(row::partition_prefix(table, partition), clustering);
}
inline Bytes partition_key(BytesView partition) {
  return row::partition_record_key(row::partition_prefix(test_table, partition));
}

inline Bytes encoded_fragment(row::Fragment fragment) {
  Bytes bytes;
  row::encode(fragment, bytes);
  return bytes;
}

// A row whose cell holds the number. The larger number wins.
inline Bytes numbered(int64_t number, size_t least_size = 0) {
  std::string text = std::to_string(number);
  if (text.size() < least_size) text.insert(0, least_size - text.size(), '0');
  row::Fragment fragment;
  row::Cell cell;
  cell.timestamp = number;
  cell.value = text;
  fragment.cells = {cell};
  return encoded_fragment(std::move(fragment));
}
inline int64_t number_in(BytesView bytes) {
  row::Fragment fragment;
  if (!row::decode(bytes, fragment) || fragment.cells.size() != 1) return -1;
  return std::stoll(std::string(fragment.cells[0].value));
}

inline Bytes expiring(int64_t timestamp, int64_t expires_seconds) {
  row::Fragment fragment;
  row::Cell cell;
  cell.kind = row::CellKind::expiring;
  cell.timestamp = timestamp;
  cell.time_to_live = 1;
  cell.expires_seconds = expires_seconds;
  cell.value = "expiring";
  fragment.cells = {cell};
  return encoded_fragment(std::move(fragment));
}

// The deletion of a row or, in a partition record, of the partition.
inline Bytes deletion(int64_t timestamp, int64_t local_seconds = 1) {
  row::Fragment fragment;
  fragment.deletion = {timestamp, local_seconds};
  return encoded_fragment(std::move(fragment));
}

inline Bytes range_flag() {
  row::Fragment fragment;
  fragment.has_range_deletions = true;
  return encoded_fragment(std::move(fragment));
}

}  // namespace sibyl::storage::rocksdb
