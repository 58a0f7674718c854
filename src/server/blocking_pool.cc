#include "server/blocking_pool.h"

#include <pthread.h>

#include "cql/redact.h"
#include "server/call.h"

namespace sibyl::server {

BlockingPool::BlockingPool(unsigned threads, size_t queue_limit, Run run)
    : queue_limit_(queue_limit), run_(run), slots_(threads) {
  for (unsigned i = 0; i < threads; ++i) {
    threads_.emplace_back([this, i] { work(slots_[i]); });
    pthread_setname_np(threads_.back().native_handle(), "sibyl-blocking");
  }
}

BlockingPool::~BlockingPool() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  ready_.notify_all();
  for (auto& thread : threads_) thread.join();
}

bool BlockingPool::submit(Line& line, Call& call) {
  {
    const std::lock_guard lock(mutex_);
    if (!has_room(line)) {
      ++refused_;
      return false;
    }
    call.next = nullptr;
    if (line.oldest_ == nullptr) {
      line.oldest_ = &call;
      take_place(line);
    } else {
      line.newest_->next = &call;
    }
    line.newest_ = &call;
    ++waiting_;
  }
  ready_.notify_one();
  return true;
}

bool BlockingPool::has_room(const Line& line) const {
  const size_t kept_free = line.oldest_ == nullptr ? 0 : queue_limit_ / 8;
  return waiting_ < queue_limit_ - kept_free;
}

// Its turn comes when all others that wait have had theirs.
void BlockingPool::take_place(Line& line) {
  line.next_ = nullptr;
  (first_ == nullptr ? first_ : last_->next_) = &line;
  last_ = &line;
}

// REQUIRES: some call waits.
Call* BlockingPool::next_call() {
  Line& line = *first_;
  first_ = line.next_;
  Call* call = line.oldest_;
  line.oldest_ = call->next;
  if (line.oldest_ != nullptr) take_place(line);
  --waiting_;
  return call;
}

void BlockingPool::work(Slot& slot) {
  std::unique_lock lock(mutex_);
  while (true) {
    ready_.wait(lock, [this] { return stopping_ || waiting_ > 0; });
    if (waiting_ == 0) return;
    Call* call = next_call();
    slot = {call->plan, call->arrived, std::chrono::steady_clock::now(), true, call->login != nullptr};
    lock.unlock();
    run_(*call);  // from here on its line may be gone
    lock.lock();
    slot.is_running = false;
    slot.plan.reset();
    ++completed_;
  }
}

engine::ThreadPool BlockingPool::usage() const {
  const std::lock_guard lock(mutex_);
  uint64_t active = 0;
  for (const Slot& slot : slots_) active += slot.is_running ? 1 : 0;
  return {"Blocking-Requests", active, slots_.size(), waiting_, completed_, refused_};
}

std::vector<engine::RunningRequest> BlockingPool::running() const {
  const auto micros = [](std::chrono::steady_clock::duration taken) {
    return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::microseconds>(taken).count());
  };
  std::vector<engine::RunningRequest> running;
  const auto now = std::chrono::steady_clock::now();
  const std::lock_guard lock(mutex_);
  for (size_t i = 0; i < slots_.size(); ++i) {
    const Slot& slot = slots_[i];
    if (!slot.is_running) continue;
    const std::string text = slot.plan ? "QUERY " + cql::without_literals(slot.plan->text) : "BATCH";
    running.push_back({"Blocking-Requests-" + std::to_string(i + 1), micros(slot.started - slot.arrived),
                       micros(now - slot.started), slot.is_login ? "AUTH_RESPONSE" : text});
  }
  return running;
}

}  // namespace sibyl::server
