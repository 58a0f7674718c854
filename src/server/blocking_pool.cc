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

bool BlockingPool::submit(Call& call) {
  {
    const std::lock_guard lock(mutex_);
    if (queue_.size() >= queue_limit_) {
      ++refused_;
      return false;
    }
    queue_.push_back(&call);
  }
  ready_.notify_one();
  return true;
}

void BlockingPool::work(Slot& slot) {
  std::unique_lock lock(mutex_);
  while (true) {
    ready_.wait(lock, [this] { return stopping_ || !queue_.empty(); });
    if (queue_.empty()) return;
    Call* call = queue_.front();
    queue_.pop_front();
    slot = {call->plan, call->arrived, std::chrono::steady_clock::now(), true, call->login != nullptr};
    lock.unlock();
    run_(*call);
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
  return {"Blocking-Requests", active, slots_.size(), queue_.size(), completed_, refused_};
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
