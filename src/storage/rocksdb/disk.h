// The file operations that durability depends on. Virtual, so that tests can make them fail.
#pragma once

#include <cstdint>

#include "base/bytes.h"

namespace sibyl::storage::rocksdb {

// Every function returns 0 or an errno. Thread-safe.
class Disk {
 public:
  virtual ~Disk() = default;
  // Writes all bytes of `first` and then of `second` at `offset`.
  virtual int write(int file, base::BytesView first, base::BytesView second, uint64_t offset);
  // Blocks until the file's contents and size are on the device.
  virtual int sync(int file);
  // Blocks until a directory's entries are on the device. This is not sync(), because a sync of data only may
  // omit new entries.
  virtual int sync_names(int directory);
  // Reserves blocks for the first `size` bytes, so that writing them cannot run out of space.
  virtual int allocate(int file, uint64_t size);

  static Disk& real();
};

}  // namespace sibyl::storage::rocksdb
