#include "storage/rocksdb/committer.h"

#include <fmt/format.h>
#include <pthread.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <iterator>

#include "base/contain.h"

namespace sibyl::storage::rocksdb {
namespace {

// The memory of a queued write set in addition to its bytes.
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
  // A write set larger than the whole queue is accepted if the queue is empty.
  if (queued_bytes_ != 0 && queued_bytes_ + cost > work_.queue_bytes) {
    lock.unlock();
    refused_.fetch_add(1, std::memory_order_relaxed);
    return done(
        base::fail(base::Error(base::ErrorCode::overloaded, "Too many writes are waiting to be committed")
                       .with_hint(fmt::format("{} MiB wait for the device; send fewer at once",
                                              work_.queue_bytes >> 20))));
  }
  queue_.push_back({std::move(writes), std::move(done), {}});
  queued_bytes_ += cost;
  const bool wake = std::exchange(sleeping_, false);
  lock.unlock();
  if (wake) woken_.notify_one();
}

void Committer::loop() {
  std::vector<Request> group;
  std::unique_lock lock(mutex_);
  while (wait_for_work(lock)) {
    if (!base::contain([&] { take_group(group); })) {
      lock.unlock();
      base::pause_for_memory();
      lock.lock();
      continue;
    }
    if (group.empty() && std::chrono::steady_clock::now() < next_pause_) continue;
    lock.unlock();
    if (!group.empty()) write_group(group);
    const auto now = std::chrono::steady_clock::now();
    if (now >= next_pause_) {
      const bool is_synced = base::contain([&] { return work_.pause(); }).value_or(false);
      next_pause_ = is_synced ? std::chrono::steady_clock::time_point::max() : now + work_.interval;
    }
    lock.lock();
  }
}

// Returns false if there is nothing left to do.
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
  size_t end = begin;
  while (end < queue_.size() && (bytes == 0 || bytes < work_.group_bytes))
    bytes += cost_of(queue_[end++].writes);
  group.reserve(end - begin);  // everything that may throw comes before any change
  queue_begin_ = end;
  queued_bytes_ -= bytes;
  if (begin == 0 && queue_begin_ == queue_.size()) {
    std::swap(queue_, group);  // both vectors keep their capacity
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

// A completion that throws is destroyed together with the group. Its owner must treat that as a failure.
void Committer::write_group(std::vector<Request>& group) {
  const base::Status status = base::contain([&] { return work_.write(group); });
  if (status) {
    groups_.fetch_add(1, std::memory_order_relaxed);
    commits_.fetch_add(group.size(), std::memory_order_relaxed);
    group_sizes_.record(group.size());
    if (work_.interval.count() > 0 && next_pause_ == std::chrono::steady_clock::time_point::max())
      next_pause_ = std::chrono::steady_clock::now() + work_.interval;
  }
  for (Request& request : group) {
    const base::Status completed =
        base::contain([&] { request.done(status ? std::move(request.status) : status); });
    if (!completed && thrown_.admit(std::chrono::steady_clock::now()))
      spdlog::error("a write could not be completed: {}", completed.error().message());
  }
  group.clear();
}

}  // namespace sibyl::storage::rocksdb
