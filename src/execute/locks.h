// Locks on partitions for statements that read before they write.
//
// Striped: partitions that hash to one stripe wait for each other, which costs time, never correctness. A
// lock may be released by another thread than the one that took it: it is held until the store reports that
// the write is done.
//
// A request that finds a lock taken need not keep its thread: acquire_later() queues a continuation. Locks
// are granted in the order they were asked for, and nobody overtakes those that wait.
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
  // The locks that a request needs, in the order in which all requests take them.
  using Stripes = std::vector<uint32_t>;

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
    // Whether it holds exactly these.
    bool holds(const Stripes& stripes) const { return locks_ != nullptr && stripes_ == stripes; }

   private:
    friend class PartitionLocks;
    Held(PartitionLocks* locks, Stripes stripes) : locks_(locks), stripes_(std::move(stripes)) {}
    PartitionLocks* locks_ = nullptr;
    Stripes stripes_;
  };

  // The locks of these partitions (row::partition_prefix).
  Stripes stripes_of(std::span<const base::Bytes> partition_prefixes) const;
  // Those of every partition: for rare statements over whole tables.
  Stripes all() const;

  // Takes all of them at once; false, with none taken, when one is held or waited for. Never blocks.
  bool try_acquire(const Stripes& stripes, Held& held);

  // Called once with the locks, on a thread of this object that may block, or with nullopt when they did not
  // become free before the deadline. `contentions`: how often a lock went to requests ahead of this one.
  using Then = std::move_only_function<void(std::optional<Held> held, uint32_t contentions)>;
  // Never blocks, and calls nothing before it returns. Stripes are taken in one order by all requests, so
  // that no two wait for each other. A caller that holds locks must not ask for more.
  void acquire_later(Stripes stripes, Deadline deadline, Then then);

  // The same for a thread that may block without a deadline: background work and tests.
  Held acquire(Stripes stripes);
  Held acquire(std::span<const base::Bytes> partition_prefixes);
  Held acquire_all() { return acquire(all()); }

  // Ends the threads after what they are running. Requests that still wait are told that their time is over.
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

// The locks of one write over its attempts: a write that finds them taken is begun again when it has them.
struct LockAttempt {
  PartitionLocks::Held held;
  PartitionLocks::Stripes wanted;  // not empty: they were taken; call again with `held` holding them
  std::optional<std::chrono::steady_clock::time_point> started;  // of the first attempt
  std::optional<PartitionLocks::Deadline> deadline;              // once it has waited

  bool must_wait() const { return !wanted.empty(); }
  // Whether `held` holds these from now on; otherwise they are `wanted`.
  bool take(PartitionLocks& locks, PartitionLocks::Stripes stripes);
};

}  // namespace sibyl::execute
