#include "storage/rocksdb/disk.h"

#include <fcntl.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>

namespace sibyl::storage::rocksdb {

int Disk::write(int file, base::BytesView first, base::BytesView second, uint64_t offset) {
  iovec parts[2] = {{const_cast<char*>(first.data()), first.size()},
                    {const_cast<char*>(second.data()), second.size()}};
  while (parts[0].iov_len + parts[1].iov_len > 0) {
    const ssize_t written = ::pwritev(file, parts, 2, static_cast<off_t>(offset));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    if (written == 0) return EIO;
    offset += static_cast<uint64_t>(written);
    size_t left = static_cast<size_t>(written);
    for (iovec& part : parts) {
      const size_t taken = left < part.iov_len ? left : part.iov_len;
      part.iov_base = static_cast<char*>(part.iov_base) + taken;
      part.iov_len -= taken;
      left -= taken;
    }
  }
  return 0;
}

int Disk::sync(int file) {
  return ::fdatasync(file) == 0 ? 0 : errno;
}

int Disk::sync_names(int directory) {
  // EINVAL: the file system does not support syncing directories.
  return ::fsync(directory) == 0 || errno == EINVAL ? 0 : errno;
}

int Disk::allocate(int file, uint64_t size) {
  for (;;) {
    if (::fallocate(file, 0, 0, static_cast<off_t>(size)) == 0) return 0;
    if (errno == EINTR) continue;
    // The file system does not support reservations, so the file grows as it is written.
    return errno == EOPNOTSUPP || errno == ENOSYS ? 0 : errno;
  }
}

Disk& Disk::real() {
  static Disk disk;
  return disk;
}

}  // namespace sibyl::storage::rocksdb
