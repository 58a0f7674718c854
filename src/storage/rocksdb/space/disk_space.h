// The free space on a store's file system, and a reserve that is held back from it.
//
// The reserve is a file of allocated blocks. It is released when opening the store, a flush or a statement
// that frees space needs room and the file system has none. It is taken again when there is room. A store can
// therefore always be opened and emptied, even after other programs have filled the file system completely.
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
  // On a small file system, the reserve takes at most this fraction.
  static constexpr uint64_t reserve_divisor = 16;

  // `directory` is the store's directory and must exist. A reserve left there by an earlier process is still
  // held. Empty: there is no file system, and its space is unknown.
  explicit DiskSpace(std::string directory);

  const std::string& directory() const { return directory_; }
  // The size of the file system, and the space that an unprivileged process can still write. Queried on each
  // call. UINT64_MAX if the file system does not report it.
  uint64_t total() const;
  uint64_t free() const;
  // free() plus the reserve, which can be released.
  uint64_t available() const;

  // The size of the reserve when it is held.
  uint64_t reserve_bytes() const { return reserve_bytes_; }
  uint64_t held() const { return held_.load(std::memory_order_relaxed); }
  // Allocates the reserve if at least `spare` bytes remain free afterwards. Does nothing if it is already
  // held.
  void take_reserve(uint64_t spare);
  // Returns false if no reserve is held.
  bool release_reserve();

 private:
  const std::string directory_, path_;
  uint64_t reserve_bytes_ = 0;
  std::mutex mutex_;  // guards the reserve's file
  std::atomic<uint64_t> held_ = 0;
};

}  // namespace sibyl::storage::rocksdb
