#include "execute/write/locks.h"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <functional>
#include <future>
#include <list>
#include <map>
#include <mutex>
#include <numeric>
#include <string_view>
#include <thread>

#include "base/check.h"
#include "base/contain.h"

namespace sibyl::execute {

struct PartitionLocks::Waiter {
  Stripes stripes;
  size_t taken = 0;  // number of stripes taken so far; the request waits for the next stripe
  Then then;
  std::multimap<Deadline, std::list<Waiter>::iterator>::iterator expiry;
  uint64_t served_before = 0;  // the queue's `served` when the request joined it
  uint32_t contentions = 0;
};

// Taking and releasing a lock without waiters is one atomic exchange. Everything else happens under the mutex
// of Queues: only there a stripe enters and leaves the state `waited_for`. A stripe is in that state while
// its queue is not empty.
struct PartitionLocks::Stripe {
  enum State : uint32_t { is_free, is_held, waited_for };
  alignas(64) std::atomic<uint32_t> state{is_free};
  uint64_t served = 0;  // number of requests of the queue that got the lock
  std::list<Waiter> queue;

  bool try_take() {
    uint32_t expected = is_free;
    return state.compare_exchange_strong(expected, is_held, std::memory_order_acquire,
                                         std::memory_order_relaxed);
  }
  // Returns false if the stripe is not free. Its holder will then check the queue. REQUIRES: the mutex is
  // held.
  bool take_or_mark() {
    while (!try_take()) {
      uint32_t expected = is_held;
      if (state.compare_exchange_strong(expected, waited_for, std::memory_order_relaxed)) return false;
      if (expected == waited_for) return false;
    }
    return true;
  }
  // Call after a change to the queue of a held stripe. REQUIRES: the mutex is held.
  void unmark_if_empty() {
    if (queue.empty()) state.store(is_held, std::memory_order_relaxed);
  }
};

// Waiting requests, and the threads that resume them. Waiters are moved between lists without allocation, so
// releasing a lock cannot fail.
struct PartitionLocks::Queues {
  using List = std::list<Waiter>;

  explicit Queues(PartitionLocks& owner)
      : locks(owner),
        stripes(owner.stripes_.get()),
        max_workers(std::clamp(std::thread::hardware_concurrency(), 4u, 16u)) {}

  // --- REQUIRES: the mutex is held. Takes the free stripes of a waiter. If it then has all of them it is
  // ready, otherwise it waits for the next one.
  void advance(List& from, List::iterator waiter);
  // Passes a held stripe to its first waiter, or frees it.
  void hand_over(Stripe& stripe);
  // Removes a waiter from the queue in which it waits.
  void expire(List::iterator waiter, List& expired);
  void start_threads();

  void run_ready();
  void watch_deadlines();

  PartitionLocks& locks;
  Stripe* const stripes;
  const size_t max_workers;
  std::mutex mutex;  // guards the queues of stripes, and the members below
  std::condition_variable has_ready, has_earlier_deadline;
  std::multimap<Deadline, List::iterator> deadlines;  // deadlines of all waiters in queues
  List ready;
  bool is_stopping = false;
  std::thread watcher;
  std::vector<std::thread> workers;
};

PartitionLocks::PartitionLocks(size_t stripes)
    : mask_(stripes - 1),
      stripes_(std::make_unique<Stripe[]>(stripes)),
      queues_(std::make_unique<Queues>(*this)) {
  SIBYL_CHECK(stripes != 0 && (stripes & mask_) == 0);
}

PartitionLocks::~PartitionLocks() {
  stop();
}

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
  for (const uint32_t stripe : stripes_) locks_->release(stripe);
  stripes_.clear();
  locks_ = nullptr;
}

PartitionLocks::Stripes PartitionLocks::stripes_of(std::span<const base::Bytes> partition_prefixes) const {
  Stripes stripes;
  stripes.reserve(partition_prefixes.size());
  for (const base::Bytes& prefix : partition_prefixes)
    stripes.push_back(static_cast<uint32_t>(std::hash<std::string_view>()(prefix) & mask_));
  std::sort(stripes.begin(), stripes.end());
  stripes.erase(std::unique(stripes.begin(), stripes.end()), stripes.end());
  return stripes;
}

PartitionLocks::Stripes PartitionLocks::all() const {
  Stripes stripes(mask_ + 1);
  std::iota(stripes.begin(), stripes.end(), 0u);
  return stripes;
}

bool PartitionLocks::try_acquire(const Stripes& stripes, Held& held) {
  for (size_t i = 0; i < stripes.size(); ++i) {
    if (stripes_[stripes[i]].try_take()) continue;
    while (i > 0) release(stripes[--i]);
    return false;
  }
  held = Held(this, stripes);
  return true;
}

void PartitionLocks::release(uint32_t stripe) noexcept {
  uint32_t expected = Stripe::is_held;
  if (stripes_[stripe].state.compare_exchange_strong(expected, Stripe::is_free, std::memory_order_release,
                                                     std::memory_order_relaxed))
    return;
  release_contended(stripe);
}

void PartitionLocks::release_contended(uint32_t stripe) noexcept {
  const std::lock_guard lock(queues_->mutex);
  queues_->hand_over(stripes_[stripe]);
}

void PartitionLocks::acquire_later(Stripes stripes, Deadline deadline, Then then) {
  Queues& queues = *queues_;
  std::unique_lock lock(queues.mutex);
  if (queues.is_stopping) {
    lock.unlock();
    return then(std::nullopt, 0);
  }
  queues.start_threads();
  Queues::List fresh;
  const auto waiter = fresh.emplace(fresh.end());
  waiter->stripes = std::move(stripes);
  waiter->expiry = queues.deadlines.emplace(deadline, waiter);
  waiter->then = std::move(then);
  if (waiter->expiry == queues.deadlines.begin()) queues.has_earlier_deadline.notify_one();
  queues.advance(fresh, waiter);
}

PartitionLocks::Held PartitionLocks::acquire(Stripes stripes) {
  Held held;
  if (try_acquire(stripes, held)) return held;
  std::promise<Held> granted;
  acquire_later(std::move(stripes), never, [&granted](std::optional<Held> taken, uint32_t) {
    SIBYL_CHECK(taken.has_value());  // it is null only after stop()
    granted.set_value(std::move(*taken));
  });
  return granted.get_future().get();
}

PartitionLocks::Held PartitionLocks::acquire(std::span<const base::Bytes> partition_prefixes) {
  return acquire(stripes_of(partition_prefixes));
}

void PartitionLocks::stop() {
  Queues& queues = *queues_;
  {
    const std::lock_guard lock(queues.mutex);
    queues.is_stopping = true;
  }
  queues.has_earlier_deadline.notify_all();
  queues.has_ready.notify_all();
  if (queues.watcher.joinable()) queues.watcher.join();
  for (std::thread& worker : queues.workers) worker.join();
  queues.workers.clear();
}

void PartitionLocks::Queues::advance(List& from, List::iterator waiter) {
  for (; waiter->taken < waiter->stripes.size(); ++waiter->taken) {
    Stripe& stripe = stripes[waiter->stripes[waiter->taken]];
    if (stripe.take_or_mark()) continue;
    waiter->served_before = stripe.served;
    stripe.queue.splice(stripe.queue.end(), from, waiter);
    return;
  }
  deadlines.erase(waiter->expiry);
  ready.splice(ready.end(), from, waiter);
  has_ready.notify_one();
}

void PartitionLocks::Queues::hand_over(Stripe& stripe) {
  if (stripe.queue.empty()) {
    stripe.state.store(Stripe::is_free, std::memory_order_release);
    return;
  }
  List next;
  next.splice(next.end(), stripe.queue, stripe.queue.begin());
  next.front().contentions += static_cast<uint32_t>(stripe.served++ - next.front().served_before);
  stripe.unmark_if_empty();
  ++next.front().taken;
  advance(next, next.begin());
}

void PartitionLocks::Queues::expire(List::iterator waiter, List& expired) {
  deadlines.erase(waiter->expiry);
  Stripe& stripe = stripes[waiter->stripes[waiter->taken]];
  waiter->contentions += static_cast<uint32_t>(stripe.served - waiter->served_before);
  expired.splice(expired.end(), stripe.queue, waiter);
  stripe.unmark_if_empty();
  while (waiter->taken > 0) hand_over(stripes[waiter->stripes[--waiter->taken]]);
}

// Starts as many workers as can be busy, up to the maximum.
void PartitionLocks::Queues::start_threads() {
  if (!watcher.joinable()) {
    watcher = std::thread([this] { watch_deadlines(); });
    pthread_setname_np(watcher.native_handle(), "sibyl-locks");
  }
  if (workers.size() >= std::min(max_workers, deadlines.size() + 1)) return;
  workers.emplace_back([this] { run_ready(); });
  pthread_setname_np(workers.back().native_handle(), "sibyl-waited");
}

void PartitionLocks::Queues::run_ready() {
  std::unique_lock lock(mutex);
  while (true) {
    has_ready.wait(lock, [this] { return is_stopping || !ready.empty(); });
    if (ready.empty()) return;
    List next;
    next.splice(next.end(), ready, ready.begin());
    lock.unlock();
    Waiter& waiter = next.front();
    // If it throws, its completion is destroyed uncalled. The owner of the completion must treat that as a
    // failure.
    (void)base::contain([&] { waiter.then(Held(&locks, std::move(waiter.stripes)), waiter.contentions); });
    next.clear();
    lock.lock();
  }
}

void PartitionLocks::Queues::watch_deadlines() {
  std::unique_lock lock(mutex);
  while (!is_stopping || !deadlines.empty()) {
    const auto now = std::chrono::steady_clock::now();
    List expired;
    while (!deadlines.empty() && (is_stopping || deadlines.begin()->first <= now))
      expire(deadlines.begin()->second, expired);
    if (!expired.empty()) {
      lock.unlock();
      for (Waiter& waiter : expired)
        (void)base::contain([&] { waiter.then(std::nullopt, waiter.contentions); });
      expired.clear();
      lock.lock();
    } else if (deadlines.empty() || deadlines.begin()->first == never) {
      has_earlier_deadline.wait(lock);
    } else {
      const Deadline until = deadlines.begin()->first;  // copied: its waiter may leave before the wait ends
      has_earlier_deadline.wait_until(lock, until);
    }
  }
}

bool LockAttempt::take(PartitionLocks& locks, PartitionLocks::Stripes stripes) {
  wanted.clear();
  if (held.holds(stripes)) return true;
  held.release();
  if (locks.try_acquire(stripes, held)) return true;
  wanted = std::move(stripes);
  return false;
}

}  // namespace sibyl::execute
