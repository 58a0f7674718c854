#include "execute/locks.h"

#include <algorithm>
#include <functional>
#include <new>
#include <numeric>
#include <string_view>

#include "base/check.h"

namespace sibyl::execute {

struct PartitionLocks::Stripe {
  // A semaphore, not a mutex: the thread that releases is another than the one that acquired.
  alignas(64) std::binary_semaphore free{1};
};

PartitionLocks::PartitionLocks(size_t stripes)
    : mask_(stripes - 1), stripes_(std::make_unique<Stripe[]>(stripes)) {
  SIBYL_CHECK(stripes != 0 && (stripes & mask_) == 0);
}

PartitionLocks::~PartitionLocks() = default;

PartitionLocks::Held& PartitionLocks::Held::operator=(Held&& other) noexcept {
  if (this != &other) {
    release();
    locks_ = std::exchange(other.locks_, nullptr);
    stripes_ = std::move(other.stripes_);
  }
  return *this;
}

void PartitionLocks::Held::release() noexcept {
  if (!locks_) return;
  for (const size_t stripe : stripes_) locks_->stripes_[stripe].free.release();
  stripes_.clear();
  locks_ = nullptr;
}

PartitionLocks::Held PartitionLocks::acquire(std::span<const base::Bytes> partition_prefixes) {
  Held held;
  held.locks_ = this;
  held.stripes_.reserve(partition_prefixes.size());
  for (const base::Bytes& prefix : partition_prefixes)
    held.stripes_.push_back(std::hash<std::string_view>()(prefix) & mask_);
  std::sort(held.stripes_.begin(), held.stripes_.end());
  held.stripes_.erase(std::unique(held.stripes_.begin(), held.stripes_.end()), held.stripes_.end());
  for (const size_t stripe : held.stripes_) stripes_[stripe].free.acquire();
  return held;
}

PartitionLocks::Held PartitionLocks::acquire_all() {
  Held held;
  held.locks_ = this;
  held.stripes_.resize(mask_ + 1);
  std::iota(held.stripes_.begin(), held.stripes_.end(), size_t{0});
  for (const size_t stripe : held.stripes_) stripes_[stripe].free.acquire();
  return held;
}

}  // namespace sibyl::execute
