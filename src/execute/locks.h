// Locks on partitions for statements that read before they write.
//
// Striped: partitions that hash to one stripe wait for each other, which costs time, never correctness. A
// lock may be released by another thread than the one that took it: it is held until the store reports that
// the write is done.
#pragma once

#include <cstddef>
#include <memory>
#include <semaphore>
#include <span>
#include <utility>
#include <vector>

#include "base/bytes.h"

namespace sibyl::execute {

class PartitionLocks {
 public:
  // REQUIRES: stripes is a power of two.
  explicit PartitionLocks(size_t stripes = 4096);
  ~PartitionLocks();

  // Held until destroyed or released, on any thread. REQUIRES: does not outlive the PartitionLocks.
  class Held {
   public:
    Held() = default;
    Held(Held&& other) noexcept
        : locks_(std::exchange(other.locks_, nullptr)), stripes_(std::move(other.stripes_)) {}
    Held& operator=(Held&& other) noexcept;
    ~Held() { release(); }
    void release() noexcept;

   private:
    friend class PartitionLocks;
    PartitionLocks* locks_ = nullptr;
    std::vector<size_t> stripes_;
  };

  // Waits for the locks of all these partitions (row::partition_prefix). Stripes are taken in one order by
  // everyone, so no two callers wait for each other. A caller that holds locks must not ask for more.
  Held acquire(std::span<const base::Bytes> partition_prefixes);
  // Waits until nobody holds any, and keeps everybody out: for rare statements over whole tables.
  Held acquire_all();

 private:
  struct Stripe;
  size_t mask_;
  std::unique_ptr<Stripe[]> stripes_;
};

}  // namespace sibyl::execute
