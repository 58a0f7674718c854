#include "server/scheduling/blocking_pool.h"

#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "cql/redact.h"
#include "server/in_flight_request.h"
#include "server/scheduling/pressure.h"

namespace sibyl::server {
namespace {

constexpr unsigned threads_for_quick_requests = 2;

// With more threads, requests would not finish sooner, and each request holds memory while it computes.
unsigned computing_threads(unsigned waiting) {
  return std::max(waiting / 4, 1u);
}

// When the processors are busy, other threads run first, if the system allows this. The priority must not be
// much lower. Other threads sometimes wait for a lock of such a thread while it is not scheduled, for example
// the kernel's lock for the process's memory map.
void lower_priority() {
  constexpr int low = 5;
  static_cast<void>(setpriority(PRIO_PROCESS, static_cast<id_t>(gettid()), low));
}

}  // namespace

BlockingPool::BlockingPool(std::string name, unsigned threads, size_t queue_limit, Run run,
                           std::chrono::milliseconds queue_timeout, Admission admission)
    : name_(std::move(name)),
      queue_limit_(queue_limit),
      run_(run),
      queue_timeout_(queue_timeout),
      admission_(admission),
      max_long_running_(std::max(threads, threads_for_quick_requests + 1) - threads_for_quick_requests),
      waiting_threads_(threads),
      slots_(threads + computing_threads(threads)) {
  for (size_t i = 0; i < slots_.size(); ++i) {
    const Duty duty = i < waiting_threads_ ? Duty::waits : Duty::computes;
    threads_.emplace_back([this, i, duty] {
      if (duty == Duty::computes) lower_priority();
      work(i, duty);
    });
    pthread_setname_np(threads_.back().native_handle(),
                       duty == Duty::waits ? "sibyl-blocking" : "sibyl-compute");
  }
  if (queue_timeout_ == std::chrono::milliseconds(0)) return;
  threads_.emplace_back([this] { watch(); });
  pthread_setname_np(threads_.back().native_handle(), "sibyl-queue_timeout");
}

BlockingPool::~BlockingPool() {
  stop();
}

void BlockingPool::stop() {
  {
    const base::MutexLock lock(mutex_);
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

bool BlockingPool::submit(Line& line, InFlightRequest& request) {
  bool is_compute_heavy = false, must_watch = false;
  {
    const base::MutexLock lock(mutex_);
    if (line.is_held_.load(std::memory_order_relaxed)) {
      append(line, request);
      count_held(line, 1);
      return true;
    }
    if (stopping_ || !has_room(line)) {
      ++refused_;
      return false;
    }
    append(line, request);
    if (line.size_ == 1) take_place(line);
    ++waiting_;
    request.takes_room = true;
    ++room_taken_;
    is_compute_heavy = line.oldest_->is_compute_heavy;
    must_watch = needs_watch();
  }
  (is_compute_heavy ? computing_ready_ : ready_).notify_one();
  if (must_watch) all_busy_.notify_one();
  return true;
}

void BlockingPool::append(Line& line, InFlightRequest& request) {
  request.next = nullptr;
  request.takes_room = false;
  (line.oldest_ == nullptr ? line.oldest_ : line.newest_->next) = &request;
  line.newest_ = &request;
  ++line.size_;
}

// REQUIRES: the line is not empty.
void BlockingPool::count_held(const Line& line, ptrdiff_t change) {
  held_ += static_cast<size_t>(change);
  if (admission_.count_held != nullptr) admission_.count_held(*line.oldest_, change);
}

// A client may read its results while the line is being marked as held. Then its reactor may miss the mark,
// so try_start() is called again afterwards.
bool BlockingPool::may_start(Line& line) {
  if (admission_.try_start == nullptr || stopping_ || admission_.try_start(*line.oldest_)) return true;
  line.is_held_.store(true, std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if (!admission_.try_start(*line.oldest_)) return false;
  line.is_held_.store(false, std::memory_order_relaxed);
  return true;
}

// REQUIRES: may_start() returned false for the line.
void BlockingPool::hold(Line& line) {
  for (InFlightRequest* request = line.oldest_; request != nullptr; request = request->next)
    if (std::exchange(request->takes_room, false)) --room_taken_;
  waiting_ -= line.size_;
  count_held(line, static_cast<ptrdiff_t>(line.size_));
}

void BlockingPool::release(Line& line) {
  bool must_watch = false;
  {
    const base::MutexLock lock(mutex_);
    if (!line.is_held_.load(std::memory_order_relaxed)) return;
    line.is_held_.store(false, std::memory_order_relaxed);
    const auto now = coarse_now();
    for (InFlightRequest* request = line.oldest_; request != nullptr; request = request->next)
      request->queued = now;
    count_held(line, -static_cast<ptrdiff_t>(line.size_));
    waiting_ += line.size_;
    take_place(line);
    must_watch = needs_watch();
  }
  notify_all();
  if (must_watch) all_busy_.notify_one();
}

InFlightRequest* BlockingPool::take_held(Line& line) {
  InFlightRequest* requests = nullptr;
  {
    const base::MutexLock lock(mutex_);
    if (!line.is_held_.load(std::memory_order_relaxed)) return nullptr;
    line.is_held_.store(false, std::memory_order_relaxed);
    count_held(line, -static_cast<ptrdiff_t>(line.size_));
    refused_ += line.size_;
    line.size_ = 0;
    requests = std::exchange(line.oldest_, nullptr);
  }
  notify_all();  // stop() may wait for held requests
  return requests;
}

bool BlockingPool::has_room(const Line& line) const {
  const size_t kept_free = line.oldest_ == nullptr ? 0 : queue_limit_ / 8;
  return room_taken_ < queue_limit_ - kept_free;
}

// Appends the line to its queue, behind all lines that wait.
void BlockingPool::take_place(Line& line) {
  Queue& queue = line.oldest_->is_compute_heavy ? computing_
                 : line.oldest_->may_run_long   ? long_running_
                                                : quick_;
  line.next_ = nullptr;
  line.place_ = ++places_;
  (queue.first == nullptr ? queue.first : queue.last->next_) = &line;
  queue.last = &line;
}

BlockingPool::Queue* BlockingPool::next_queue(Duty duty) {
  if (duty == Duty::computes) return computing_.first != nullptr ? &computing_ : nullptr;
  const bool may_run_long =
      long_running_.first != nullptr && (long_running_now_ < max_long_running_ || stopping_);
  if (quick_.first == nullptr) return may_run_long ? &long_running_ : nullptr;
  return may_run_long && long_running_.first->place_ < quick_.first->place_ ? &long_running_ : &quick_;
}

InFlightRequest* BlockingPool::next_request(Queue& queue, base::CondVar*& next_ready) {
  Line& line = *queue.first;
  queue.first = line.next_;
  if (!may_start(line)) {
    hold(line);
    return nullptr;
  }
  InFlightRequest* request = take_from(line);
  if (line.oldest_ == nullptr) return request;
  take_place(line);
  // The line's next request may need a thread for the other kind of requests.
  next_ready = line.oldest_->is_compute_heavy ? &computing_ready_ : &ready_;
  return request;
}

// REQUIRES: the line is not empty.
InFlightRequest* BlockingPool::take_from(Line& line) {
  InFlightRequest* request = line.oldest_;
  line.oldest_ = request->next;
  --line.size_;
  --waiting_;
  if (std::exchange(request->takes_room, false)) --room_taken_;
  return request;
}

InFlightRequest* BlockingPool::take_expired() {
  const auto oldest = coarse_now() - queue_timeout_;
  InFlightRequest* expired = nullptr;
  Queue before[] = {std::exchange(quick_, {}), std::exchange(long_running_, {}),
                    std::exchange(computing_, {})};
  for (Queue& queue : before) take_expired(queue, oldest, expired);
  return expired;
}

// Lines that still have requests stay in the same order.
void BlockingPool::take_expired(Queue& queue, std::chrono::steady_clock::time_point oldest,
                                InFlightRequest*& expired) {
  while (queue.first != nullptr) {
    Line& line = *std::exchange(queue.first, queue.first->next_);
    while (line.oldest_ != nullptr && line.oldest_->queued < oldest) {
      InFlightRequest* request = take_from(line);
      request->next = std::exchange(expired, request);
    }
    if (line.oldest_ != nullptr) take_place(line);
  }
}

bool BlockingPool::needs_watch() {
  if (waiting_ == 0 || is_watching_) return false;
  return busy_ >= waiting_threads_ || next_queue(Duty::waits) == nullptr;
}

// Passes expired requests to run_. Sleeps while no request waits.
void BlockingPool::watch() {
  base::MutexLock lock(mutex_);
  while (!stopping_) {
    if (waiting_ == 0) {
      is_watching_ = false;
      all_busy_.wait(mutex_);
    }
    is_watching_ = true;
    const auto next = std::chrono::steady_clock::now() + queue_timeout_ / 8;
    while (!stopping_ && all_busy_.wait_until(mutex_, next)) continue;
    InFlightRequest* expired = stopping_ ? nullptr : take_expired();
    lock.unlock();
    while (expired != nullptr) run_(*std::exchange(expired, expired->next));  // may destroy its line
    lock.lock();
  }
}

// Other threads are notified after the mutex is released. Otherwise the notified thread may preempt this one,
// and a reactor would wait for the mutex meanwhile.
void BlockingPool::work(size_t number, Duty duty) {
  base::CondVar& ready = duty == Duty::waits ? ready_ : computing_ready_;
  base::MutexLock lock(mutex_);
  Slot& slot = slots_[number];
  while (true) {
    while (next_queue(duty) == nullptr && !(stopping_ && waiting_ + held_ == 0)) ready.wait(mutex_);
    if (waiting_ == 0) return;
    base::CondVar* next_ready = nullptr;
    InFlightRequest* request = next_request(*next_queue(duty), next_ready);
    if (request == nullptr) continue;
    const bool is_last = stopping_ && waiting_ + held_ == 0;
    ++busy_;
    const bool may_run_long = request->may_run_long && duty == Duty::waits;
    long_running_now_ += may_run_long ? 1 : 0;
    const bool must_watch = needs_watch();
    slot = {request->plan, request->arrived, std::chrono::steady_clock::now(),
            true,          may_run_long,     request->opcode};
    lock.unlock();
    if (next_ready != nullptr) next_ready->notify_one();
    if (must_watch) all_busy_.notify_one();
    if (is_last) notify_all();
    run_(*request);  // may destroy its line
    lock.lock();
    plan::PreparedPtr plan = std::move(slot.plan);
    slot.is_running = false;
    --busy_;
    long_running_now_ -= slot.may_run_long ? 1 : 0;
    ++completed_;
    // Destroying the plan of a long text takes many milliseconds.
    if (plan.use_count() == 1) {
      lock.unlock();
      plan.reset();
      lock.lock();
    }
  }
}

engine::ThreadPool BlockingPool::usage() const {
  const base::MutexLock lock(mutex_);
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
  const base::MutexLock lock(mutex_);
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
