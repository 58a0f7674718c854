// A disk that fails or is slow on demand, for tests.
#pragma once

#include <atomic>
#include <cerrno>
#include <chrono>
#include <thread>

#include "storage/rocksdb/disk.h"

namespace sibyl::storage::rocksdb {

// Each fault counts down: at 0 the operation fails, negative means never. A failing write writes half of its
// bytes first, like a torn write.
class FaultyDisk final : public Disk {
 public:
  std::atomic<int> fail_write = -1;
  std::atomic<int> fail_sync = -1;
  std::atomic<int> fail_allocate = -1;
  std::atomic<bool> fail_all = false;
  std::atomic<int> error = EIO;
  std::atomic<int> syncs = 0;
  std::atomic<std::chrono::milliseconds> sync_takes{};  // minimum duration

  int write(int file, base::BytesView first, base::BytesView second, uint64_t offset) override {
    if (!fails(fail_write)) return Disk::write(file, first, second, offset);
    Disk::write(file, first, second.substr(0, second.size() / 2), offset);
    return error;
  }
  int sync(int file) override {
    ++syncs;
    std::this_thread::sleep_for(sync_takes.load());
    if (!fails(fail_sync)) return Disk::sync(file);
    return error;
  }
  int sync_names(int directory) override {
    ++syncs;
    return fails(fail_sync) ? error.load() : Disk::sync_names(directory);
  }
  int allocate(int file, uint64_t size) override {
    return fails(fail_allocate) ? error.load() : Disk::allocate(file, size);
  }

 private:
  bool fails(std::atomic<int>& countdown) { return fail_all || (countdown >= 0 && countdown-- == 0); }
};

}  // namespace sibyl::storage::rocksdb
