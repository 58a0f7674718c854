#include "storage/rocksdb/committer.h"

#include <fmt/format.h>
#include <pthread.h>

#include <algorithm>
#include <iterator>

namespace sibyl::storage::rocksdb {
namespace {

// What a queued write set costs beside its bytes.
constexpr uint64_t request_overhead = 256;

uint64_t cost_of(const WriteSet& writes) {
  return writes.byte_size() + request_overhead;
}

}  // namespace

Committer::Committer(Work work) : work_(std::move(work)), thread_([this] { loop(); }) {
  pthread_setname_np(thread_.native_handle(), "sibyl-commit");
}

Committer::~Committer() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  woken_.notify_one();
  thread_.join();
}

void Committer::submit(WriteSet writes, Store::Done done) {
  const uint64_t cost = cost_of(writes);
  std::unique_lock lock(mutex_);
  // A write set larger than the whole queue is taken when it is empty.
  if (queued_bytes_ != 0 && queued_bytes_ + cost > work_.queue_bytes) {
    lock.unlock();
    refused_.fetch_add(1, std::memory_order_relaxed);
    return done(
        base::fail(base::Error(base::ErrorCode::overloaded, "Too many writes are waiting to be committed")
                       .with_hint(fmt::format("{} MiB wait for the device; send fewer at once",
                                              work_.queue_bytes >> 20))));
  }
  queued_bytes_ += cost;
  queue_.push_back({std::move(writes), std::move(done)});
  const bool wake = std::exchange(sleeping_, false);
  lock.unlock();
  if (wake) woken_.notify_one();
}

void Committer::loop() {
  std::vector<Request> group;
  std::unique_lock lock(mutex_);
  while (wait_for_work(lock)) {
    take_group(group);
    if (group.empty() && std::chrono::steady_clock::now() < next_pause_) continue;
    lock.unlock();
    if (!group.empty()) write_group(group);
    const auto now = std::chrono::steady_clock::now();
    if (now >= next_pause_) {
      next_pause_ = work_.pause() ? std::chrono::steady_clock::time_point::max() : now + work_.interval;
    }
    lock.lock();
  }
}

// False when there is nothing left to do.
bool Committer::wait_for_work(std::unique_lock<std::mutex>& lock) {
  for (;;) {
    if (queue_begin_ < queue_.size()) return true;
    if (stopping_) return false;
    sleeping_ = true;
    if (next_pause_ == std::chrono::steady_clock::time_point::max()) {
      woken_.wait(lock);
    } else if (woken_.wait_until(lock, next_pause_) == std::cv_status::timeout) {
      sleeping_ = false;
      return true;
    }
    sleeping_ = false;
  }
}

void Committer::take_group(std::vector<Request>& group) {
  uint64_t bytes = 0;
  const size_t begin = queue_begin_;
  while (queue_begin_ < queue_.size() && (bytes == 0 || bytes < work_.group_bytes))
    bytes += cost_of(queue_[queue_begin_++].writes);
  queued_bytes_ -= bytes;
  if (begin == 0 && queue_begin_ == queue_.size()) {
    std::swap(queue_, group);  // both keep their capacity
  } else {
    group.insert(group.end(), std::make_move_iterator(queue_.begin() + static_cast<ptrdiff_t>(begin)),
                 std::make_move_iterator(queue_.begin() + static_cast<ptrdiff_t>(queue_begin_)));
  }
  if (queue_begin_ >= queue_.size()) {
    queue_.clear();
    queue_begin_ = 0;
  } else if (queue_begin_ > queue_.size() / 2) {
    queue_.erase(queue_.begin(), queue_.begin() + static_cast<ptrdiff_t>(queue_begin_));
    queue_begin_ = 0;
  }
}

void Committer::write_group(std::vector<Request>& group) {
  const base::Status status = work_.write(group);
  if (status) {
    groups_.fetch_add(1, std::memory_order_relaxed);
    commits_.fetch_add(group.size(), std::memory_order_relaxed);
    group_sizes_.record(group.size());
    if (work_.interval.count() > 0 && next_pause_ == std::chrono::steady_clock::time_point::max())
      next_pause_ = std::chrono::steady_clock::now() + work_.interval;
  }
  for (Request& request : group) request.done(status);
  group.clear();
}

}  // namespace sibyl::storage::rocksdb
