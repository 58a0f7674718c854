// Helpers for tests of disk space: tables of incompressible records.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "row/record_key.h"
#include "storage/rocksdb/test_store.h"

namespace sibyl::storage::rocksdb {

constexpr size_t test_record_bytes = 10'000;

inline Bytes test_key(uint32_t table, int number) {
  const auto token = static_cast<int64_t>(static_cast<uint64_t>(number) * 0x9E3779B97F4A7C15u);
  return row::row_record_key(row::partition_prefix(table, token, std::to_string(number)), "c");
}

inline Bytes test_value(int number) {
  std::mt19937_64 random(static_cast<uint64_t>(number));
  Bytes value(test_record_bytes, '\0');
  for (char& byte : value) byte = static_cast<char>(random());
  return value;
}

inline base::Status write_record(Store& store, uint32_t table, int number) {
  WriteSet writes;
  writes.put(test_key(table, number), test_value(number));
  return store.commit(std::move(writes));
}

inline base::Status erase_table(Store& store, uint32_t table) {
  WriteSet writes;
  writes.erase_range(row::table_begin(table), row::table_end(table));
  return store.commit(std::move(writes));
}

inline void set_tables(Store& store, const std::vector<uint32_t>& tables) {
  auto policy = std::make_shared<PurgePolicy>();
  for (const uint32_t table : tables) policy->tables.insert_or_assign(table, {});
  store.set_purge_policy(std::move(policy));
}

inline uint64_t file_bytes(const Store& store) {
  uint64_t bytes = 0;
  for (const StoreFile& file : store.files()) bytes += file.bytes;
  return bytes;
}

// Waits up to ten seconds for the condition.
inline bool becomes_true(const std::function<bool()>& condition) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return true;
}

}  // namespace sibyl::storage::rocksdb
