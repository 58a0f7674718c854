// Helpers for tests that open, write and read stores and logs.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/test_directory.h"
#include "storage/rocksdb/commit_log.h"
#include "storage/rocksdb/rocksdb_store.h"

namespace sibyl::storage::rocksdb {

using base::TemporaryDirectory;

// Returns nullptr and fails the test if the store cannot be opened.
inline std::unique_ptr<Store> opened(const std::string& path, const Options& options = {}) {
  auto store = open_store(path, options);
  EXPECT_TRUE(store.has_value()) << store.error().text();
  return store ? std::move(*store) : nullptr;
}

inline base::Status put(Store& store, const std::string& key, const std::string& value) {
  WriteSet writes;
  writes.put(key, value);
  return store.commit(std::move(writes));
}

// Returns "none" if there is no such record.
inline std::string get(const Store& store, const std::string& key) {
  Bytes value;
  const auto found = store.get(key, value);
  if (!found) return "error: " + found.error().message();
  return *found ? value : "none";
}

// Opens a log with small segments and collects its groups.
inline base::Result<std::unique_ptr<CommitLog>> open_log(const std::string& directory, Disk& disk,
                                                         std::vector<Bytes>& replayed,
                                                         const std::string& mark = {}) {
  replayed.clear();
  CommitLog::Options options;
  options.directory = directory;
  options.segment_bytes = 4096;
  options.disk = &disk;
  options.mark = mark;
  CommitLog::Replay replay;
  replay.group = [&replayed](BytesView group) {
    replayed.emplace_back(group);
    return base::Status();
  };
  replay.end_of_segment = [](uint64_t) {};
  return CommitLog::open(options, replay);
}

}  // namespace sibyl::storage::rocksdb
