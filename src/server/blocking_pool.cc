#include "server/blocking_pool.h"

#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "cql/redact.h"
#include "server/call.h"
#include "server/pressure.h"

namespace sibyl::server {
namespace {

constexpr unsigned kept_for_quick = 2;  // threads

// More would not be served sooner, and each holds what it computes.
unsigned computing_threads(unsigned waiting) {
  return std::max(waiting / 4, 1u);
}

// Others come first when the processors are busy. Where the system does not allow it, all are equal.
void lower_priority() {
  constexpr int low = 10;
  static_cast<void>(setpriority(PRIO_PROCESS, static_cast<id_t>(gettid()), low));
}

}  // namespace

BlockingPool::BlockingPool(std::string name, unsigned threads, size_t queue_limit, Run run,
                           std::chrono::milliseconds patience, Admission admission)
    : name_(std::move(name)),
      queue_limit_(queue_limit),
      run_(run),
      patience_(patience),
      admission_(admission),
      most_lasting_(std::max(threads, kept_for_quick + 1) - kept_for_quick),
      waiting_threads_(threads),
      slots_(threads + computing_threads(threads)) {
  for (size_t i = 0; i < slots_.size(); ++i) {
    const Duty duty = i < waiting_threads_ ? Duty::waits : Duty::computes;
    threads_.emplace_back([this, i, duty] {
      if (duty == Duty::computes) lower_priority();
      work(slots_[i], duty);
    });
    pthread_setname_np(threads_.back().native_handle(),
                       duty == Duty::waits ? "sibyl-blocking" : "sibyl-compute");
  }
  if (patience_ == std::chrono::milliseconds(0)) return;
  threads_.emplace_back([this] { watch(); });
  pthread_setname_np(threads_.back().native_handle(), "sibyl-patience");
}

BlockingPool::~BlockingPool() {
  stop();
}

void BlockingPool::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  notify_all();
  all_busy_.notify_all();
  for (auto& thread : threads_) thread.join();
  threads_.clear();
}

void BlockingPool::notify_all() {
  ready_.notify_all();
  computing_ready_.notify_all();
}

bool BlockingPool::submit(Line& line, Call& call) {
  bool computes = false;
  {
    const std::lock_guard lock(mutex_);
    if (line.is_held_.load(std::memory_order_relaxed)) {
      append(line, call);
      count_held(line, 1);
      return true;
    }
    if (stopping_ || !has_room(line)) {
      ++refused_;
      return false;
    }
    append(line, call);
    if (line.size_ == 1) take_place(line);
    ++waiting_;
    call.takes_room = true;
    ++room_taken_;
    computes = line.oldest_->computes;
    watch_if_busy();
  }
  (computes ? computing_ready_ : ready_).notify_one();
  return true;
}

void BlockingPool::append(Line& line, Call& call) {
  call.next = nullptr;
  call.takes_room = false;
  (line.oldest_ == nullptr ? line.oldest_ : line.newest_->next) = &call;
  line.newest_ = &call;
  ++line.size_;
}

// REQUIRES: some call waits in it.
void BlockingPool::count_held(const Line& line, ptrdiff_t change) {
  held_ += static_cast<size_t>(change);
  if (admission_.count_held != nullptr) admission_.count_held(*line.oldest_, change);
}

// A client that takes its results while the line is being marked as held does not see the mark: so the
// question is asked again afterwards.
bool BlockingPool::may_start(Line& line) {
  if (admission_.try_start == nullptr || stopping_ || admission_.try_start(*line.oldest_)) return true;
  line.is_held_.store(true, std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if (!admission_.try_start(*line.oldest_)) return false;
  line.is_held_.store(false, std::memory_order_relaxed);
  return true;
}

// REQUIRES: may_start() was false for it.
void BlockingPool::hold(Line& line) {
  for (Call* call = line.oldest_; call != nullptr; call = call->next)
    if (std::exchange(call->takes_room, false)) --room_taken_;
  waiting_ -= line.size_;
  count_held(line, static_cast<ptrdiff_t>(line.size_));
}

void BlockingPool::release(Line& line) {
  {
    const std::lock_guard lock(mutex_);
    if (!line.is_held_.load(std::memory_order_relaxed)) return;
    line.is_held_.store(false, std::memory_order_relaxed);
    const auto now = coarse_now();
    for (Call* call = line.oldest_; call != nullptr; call = call->next) call->queued = now;
    count_held(line, -static_cast<ptrdiff_t>(line.size_));
    waiting_ += line.size_;
    take_place(line);
    watch_if_busy();
  }
  notify_all();
}

Call* BlockingPool::take_held(Line& line) {
  Call* calls = nullptr;
  {
    const std::lock_guard lock(mutex_);
    if (!line.is_held_.load(std::memory_order_relaxed)) return nullptr;
    line.is_held_.store(false, std::memory_order_relaxed);
    count_held(line, -static_cast<ptrdiff_t>(line.size_));
    refused_ += line.size_;
    line.size_ = 0;
    calls = std::exchange(line.oldest_, nullptr);
  }
  notify_all();  // the destructor may wait for held calls
  return calls;
}

bool BlockingPool::has_room(const Line& line) const {
  const size_t kept_free = line.oldest_ == nullptr ? 0 : queue_limit_ / 8;
  return room_taken_ < queue_limit_ - kept_free;
}

// Its turn comes when all others that wait have had theirs.
void BlockingPool::take_place(Line& line) {
  Queue& queue = line.oldest_->computes ? computing_ : line.oldest_->may_last ? lasting_ : quick_;
  line.next_ = nullptr;
  line.place_ = ++places_;
  (queue.first == nullptr ? queue.first : queue.last->next_) = &line;
  queue.last = &line;
}

BlockingPool::Queue* BlockingPool::next_queue(Duty duty) {
  if (duty == Duty::computes) return computing_.first != nullptr ? &computing_ : nullptr;
  const bool may_last = lasting_.first != nullptr && (lasting_now_ < most_lasting_ || stopping_);
  if (quick_.first == nullptr) return may_last ? &lasting_ : nullptr;
  return may_last && lasting_.first->place_ < quick_.first->place_ ? &lasting_ : &quick_;
}

Call* BlockingPool::next_call(Queue& queue) {
  Line& line = *queue.first;
  queue.first = line.next_;
  if (!may_start(line)) {
    hold(line);
    return nullptr;
  }
  Call* call = take_from(line);
  if (line.oldest_ == nullptr) return call;
  take_place(line);
  // The next one may be for a thread of the other kind.
  (line.oldest_->computes ? computing_ready_ : ready_).notify_one();
  return call;
}

// REQUIRES: some call waits in it.
Call* BlockingPool::take_from(Line& line) {
  Call* call = line.oldest_;
  line.oldest_ = call->next;
  --line.size_;
  --waiting_;
  if (std::exchange(call->takes_room, false)) --room_taken_;
  return call;
}

Call* BlockingPool::take_expired() {
  const auto oldest = coarse_now() - patience_;
  Call* expired = nullptr;
  Queue before[] = {std::exchange(quick_, {}), std::exchange(lasting_, {}), std::exchange(computing_, {})};
  for (Queue& queue : before) take_expired(queue, oldest, expired);
  return expired;
}

// Lines that are left keep their turns.
void BlockingPool::take_expired(Queue& queue, std::chrono::steady_clock::time_point oldest, Call*& expired) {
  while (queue.first != nullptr) {
    Line& line = *std::exchange(queue.first, queue.first->next_);
    while (line.oldest_ != nullptr && line.oldest_->queued < oldest) {
      Call* call = take_from(line);
      call->next = std::exchange(expired, call);
    }
    if (line.oldest_ != nullptr) take_place(line);
  }
}

void BlockingPool::watch_if_busy() {
  if (waiting_ == 0 || is_watching_) return;
  if (busy_ >= waiting_threads_ || next_queue(Duty::waits) == nullptr) all_busy_.notify_one();
}

// Sleeps while no call has to wait.
void BlockingPool::watch() {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    if (waiting_ == 0) {
      is_watching_ = false;
      all_busy_.wait(lock);
    }
    is_watching_ = true;
    all_busy_.wait_for(lock, patience_ / 8, [this] { return stopping_; });
    Call* expired = stopping_ ? nullptr : take_expired();
    lock.unlock();
    while (expired != nullptr) run_(*std::exchange(expired, expired->next));  // its line may be gone then
    lock.lock();
  }
}

void BlockingPool::work(Slot& slot, Duty duty) {
  std::condition_variable& ready = duty == Duty::waits ? ready_ : computing_ready_;
  std::unique_lock lock(mutex_);
  while (true) {
    ready.wait(lock, [&] { return next_queue(duty) != nullptr || (stopping_ && waiting_ + held_ == 0); });
    if (waiting_ == 0) return;
    Call* call = next_call(*next_queue(duty));
    if (call == nullptr) continue;
    if (stopping_ && waiting_ + held_ == 0) notify_all();
    ++busy_;
    const bool may_last = call->may_last && duty == Duty::waits;
    lasting_now_ += may_last ? 1 : 0;
    watch_if_busy();
    slot = {call->plan, call->arrived, std::chrono::steady_clock::now(), true, may_last, call->opcode};
    lock.unlock();
    run_(*call);  // from here on its line may be gone
    lock.lock();
    slot.is_running = false;
    slot.plan.reset();
    --busy_;
    lasting_now_ -= slot.may_last ? 1 : 0;
    ++completed_;
  }
}

engine::ThreadPool BlockingPool::usage() const {
  const std::lock_guard lock(mutex_);
  uint64_t active = 0;
  for (const Slot& slot : slots_) active += slot.is_running ? 1 : 0;
  return {name_, active, slots_.size(), waiting_ + held_, completed_, refused_};
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
    const std::string text = slot.plan ? "QUERY " + cql::without_literals(slot.plan->text)
                                       : std::string(protocol::opcode_name(slot.opcode));
    running.push_back({name_ + "-" + std::to_string(i + 1), micros(slot.started - slot.arrived),
                       micros(now - slot.started), text});
  }
  return running;
}

}  // namespace sibyl::server
