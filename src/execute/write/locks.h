// Locks on partitions for statements that read before they write.
//
// Locks are striped: partitions that hash to the same stripe wait for each other, which costs time but never
// correctness. A lock is held until the store reports that the write is done, so another thread may release
// it.
//
// A request that finds a lock taken need not block its thread: acquire_later() queues a continuation. Locks
// are granted in the order of the requests, without overtaking.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/bytes.h"

namespace sibyl::execute {

class PartitionLocks {
 public:
  using Deadline = std::chrono::steady_clock::time_point;
  static constexpr Deadline never = Deadline::max();
  // The stripes that a request locks, in the order in which all requests take them.
  using Stripes = std::vector<uint32_t>;

  // REQUIRES: `stripes` is a power of two.
  explicit PartitionLocks(size_t stripes = 4096);
  ~PartitionLocks();

  // Locks that are held until destroyed or released, on any thread. REQUIRES: does not outlive the
  // PartitionLocks.
  class Held {
   public:
    Held() = default;
    Held(Held&& other) noexcept
        : locks_(std::exchange(other.locks_, nullptr)), stripes_(std::move(other.stripes_)) {}
    Held& operator=(Held&& other) noexcept;
    ~Held() { release(); }
    void release() noexcept;
    // Returns true if exactly these stripes are held.
    bool holds(const Stripes& stripes) const { return locks_ != nullptr && stripes_ == stripes; }

   private:
    friend class PartitionLocks;
    Held(PartitionLocks* locks, Stripes stripes) : locks_(locks), stripes_(std::move(stripes)) {}
    PartitionLocks* locks_ = nullptr;
    Stripes stripes_;
  };

  // The stripes of these partitions (row::partition_prefix).
  Stripes stripes_of(std::span<const base::Bytes> partition_prefixes) const;
  // The stripes of all partitions, for rare statements over whole tables.
  Stripes all() const;

  // Acquires all stripes at once. Returns false, with none acquired, if one is held or waited for. Never
  // blocks.
  bool try_acquire(const Stripes& stripes, Held& held);

  // Called once, on a thread of this object that may block: with the locks, or with nullopt if they were not
  // available before the deadline. `contentions` is how often a lock was granted to an earlier request.
  using Then = std::move_only_function<void(std::optional<Held> held, uint32_t contentions)>;
  // Never blocks, and never calls `then` before it returns. All requests take stripes in the same order, so
  // there are no deadlocks. A caller that holds locks must not acquire more.
  void acquire_later(Stripes stripes, Deadline deadline, Then then);

  // Blocks without a deadline. For background work and tests.
  Held acquire(Stripes stripes);
  Held acquire(std::span<const base::Bytes> partition_prefixes);
  Held acquire_all() { return acquire(all()); }

  // Stops the threads after their current callback. Requests that still wait get nullopt, as after a timeout.
  void stop();

 private:
  struct Stripe;
  struct Waiter;
  struct Queues;
  void release(uint32_t stripe) noexcept;
  void release_contended(uint32_t stripe) noexcept;

  const size_t mask_;
  std::unique_ptr<Stripe[]> stripes_;
  std::unique_ptr<Queues> queues_;
};

// The locks of one write across its attempts. A write that finds them taken is started again once it holds
// them.
struct LockAttempt {
  PartitionLocks::Held held;
  // If not empty, these stripes were taken: acquire them into `held`, then call again.
  PartitionLocks::Stripes wanted;
  std::optional<std::chrono::steady_clock::time_point> started;  // start of the first attempt
  std::optional<PartitionLocks::Deadline> deadline;              // set once the write has waited

  bool must_wait() const { return !wanted.empty(); }
  // Returns true if `held` now holds these stripes. Otherwise stores them in `wanted`.
  bool take(PartitionLocks& locks, PartitionLocks::Stripes stripes);
};

}  // namespace sibyl::execute
