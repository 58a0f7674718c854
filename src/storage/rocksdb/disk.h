// The few file operations that durability rests on, so that tests can make them fail.
#pragma once

#include <cstdint>

#include "base/bytes.h"

namespace sibyl::storage::rocksdb {

// Every call gives 0 or an errno. Thread-safe.
class Disk {
 public:
  virtual ~Disk() = default;
  // All of both, one after the other, at `offset`.
  virtual int write(int file, base::BytesView first, base::BytesView second, uint64_t offset);
  // Until the device has what was written to a file: its bytes and its size.
  virtual int sync(int file);
  // Until the device has a directory's names. Apart, since syncing data alone may leave new names out.
  virtual int sync_names(int directory);
  // Reserves the blocks of the first `size` bytes, so that writing there cannot run out of space.
  virtual int allocate(int file, uint64_t size);

  static Disk& real();
};

}  // namespace sibyl::storage::rocksdb
