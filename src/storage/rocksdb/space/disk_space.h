// The room on a store's file system, and the reserve that is held of it.
//
// The reserve is a file of allocated blocks. It is given up when an opening, a flush or a statement that
// frees space needs room and the file system has none, and taken again when there is room. So a store can
// always be opened and emptied, even when other programs have filled the file system to the last byte.
//
// Thread-safe.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>

namespace sibyl::storage::rocksdb {

class DiskSpace {
 public:
  static constexpr uint64_t max_reserve_bytes = 16 << 20;
  // The reserve's share of a small file system.
  static constexpr uint64_t reserve_divisor = 16;

  // `directory` exists and is the store's. A reserve that an earlier process holds there is still held.
  explicit DiskSpace(std::string directory);

  const std::string& directory() const { return directory_; }
  // The size of the file system, and what an unprivileged process may still write there, asked for anew.
  // UINT64_MAX where the file system does not tell.
  uint64_t total() const;
  uint64_t free() const;
  // The same with the reserve, which can be given up.
  uint64_t available() const;

  // How large the reserve is when it is held.
  uint64_t reserve_bytes() const { return reserve_bytes_; }
  uint64_t held() const { return held_.load(std::memory_order_relaxed); }
  // Allocates the reserve when at least `spare` bytes stay free beside it. Does nothing when it is held.
  void take_reserve(uint64_t spare);
  // False when there is none to give up.
  bool give_up_reserve();

 private:
  const std::string directory_, path_;
  uint64_t reserve_bytes_ = 0;
  std::mutex mutex_;  // of the reserve's file
  std::atomic<uint64_t> held_ = 0;
};

}  // namespace sibyl::storage::rocksdb
