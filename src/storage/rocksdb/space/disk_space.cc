#include "storage/rocksdb/space/disk_space.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "base/file.h"
#include "storage/rocksdb/disk.h"

namespace sibyl::storage::rocksdb {
namespace {

constexpr uint64_t unknown = UINT64_MAX;

}  // namespace

DiskSpace::DiskSpace(std::string directory)
    : directory_(std::move(directory)), path_(directory_ + "/SIBYL_RESERVE") {
  if (directory_.empty()) return;
  reserve_bytes_ = std::min(max_reserve_bytes, total() / reserve_divisor);
  // Exceeding the limit would terminate a process that does not handle SIGXFSZ.
  struct rlimit limit{};
  if (::getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < reserve_bytes_)
    reserve_bytes_ = limit.rlim_cur;
  struct stat status{};
  if (::stat(path_.c_str(), &status) == 0) held_ = static_cast<uint64_t>(status.st_blocks) * 512;
}

uint64_t DiskSpace::total() const {
  struct statvfs status{};
  if (::statvfs(directory_.c_str(), &status) != 0 || status.f_blocks == 0) return unknown;
  return static_cast<uint64_t>(status.f_blocks) * status.f_frsize;
}

// File systems without a fixed size report zero blocks.
uint64_t DiskSpace::free() const {
  struct statvfs status{};
  if (::statvfs(directory_.c_str(), &status) != 0 || status.f_blocks == 0) return unknown;
  return static_cast<uint64_t>(status.f_bavail) * status.f_frsize;
}

uint64_t DiskSpace::available() const {
  const uint64_t now = free();
  return now == unknown ? unknown : now + held();
}

void DiskSpace::take_reserve(uint64_t spare) {
  if (held() >= reserve_bytes_) return;
  const std::lock_guard lock(mutex_);
  const uint64_t now = free();
  if (held() >= reserve_bytes_ || now == unknown || now < reserve_bytes_ - held() + spare) return;
  const base::File file(path_, O_RDWR | O_CREAT);
  if (!file) return;
  if (Disk::real().allocate(file.number(), reserve_bytes_) != 0) {
    ::unlink(path_.c_str());
    held_ = 0;
    return;
  }
  struct stat status{};
  if (::fstat(file.number(), &status) == 0) held_ = static_cast<uint64_t>(status.st_blocks) * 512;
}

bool DiskSpace::release_reserve() {
  const std::lock_guard lock(mutex_);
  if (held_.exchange(0) == 0) return false;
  return ::unlink(path_.c_str()) == 0;
}

}  // namespace sibyl::storage::rocksdb
