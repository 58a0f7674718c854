// A thread pool for requests that may block or take long: scans, reads before writes, schema changes.
//
// 1. Every client has its own FIFO queue (Line). The lines take turns of one request each. So a request
//    behind n others of its line waits for at most n + 1 requests of any other line.
// 2. The requests of one line start in the order in which they were submitted. Several may run at once.
// 3. Requests that may run long never occupy all threads. So writes and schema changes do not wait for scans.
// 4. Compute-heavy requests have a few threads of their own, with low priority.
//
// A line whose next request may not start (Admission) is held until release() is called. A held line takes no
// turns. Its requests do not expire, and do not count against the queue limit, neither while they are held
// nor afterwards: a line that is released must not cause the requests of other clients to be refused.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <string>
#include <thread>
#include <vector>

#include "base/mutex.h"
#include "engine/statistics/monitor.h"
#include "plan/prepared.h"
#include "protocol/frame.h"

namespace sibyl::server {

struct InFlightRequest;

class BlockingPool {
 public:
  using Run = void (*)(InFlightRequest&);

  // Both functions are called with the pool's lock held. They must be quick and must not use the pool.
  struct Admission {
    // Returns true if the request may start now; the pool then starts it. nullptr: every request may start.
    bool (*try_start)(InFlightRequest&) = nullptr;
    // Adds `change` to the number of held requests. `request` is one of the line that is held or released.
    void (*count_held)(const InFlightRequest& request, ptrdiff_t change) = nullptr;
  };

  // The queue of one client's requests. Used with one pool only. Must outlive its queued requests. Guarded by
  // the pool's lock.
  class Line {
   public:
    Line() = default;
    Line(const Line&) = delete;
    Line& operator=(const Line&) = delete;

    // Returns true if the line is held. A thread that makes a refused request admissible must then check
    // this, and call release() if it is true. Thread-safe.
    bool is_held() const {
      std::atomic_thread_fence(std::memory_order_seq_cst);
      return is_held_.load(std::memory_order_relaxed);
    }

   private:
    friend class BlockingPool;
    InFlightRequest* oldest_ = nullptr;  // linked by InFlightRequest::next
    InFlightRequest* newest_ = nullptr;
    Line* next_ = nullptr;  // the line whose turn is next
    uint64_t place_ = 0;    // order of turns among all lines
    size_t size_ = 0;       // requests
    std::atomic<bool> is_held_{false};
  };

  // `name` is shown in system_views and metrics. `queue_limit` bounds the requests that wait and were never
  // held, in all lines together. A request that has waited for `queue_timeout` is passed to `run` by an extra
  // thread, even if all others are busy; `run` must then refuse it. 0: no timeout.
  BlockingPool(std::string name, unsigned threads, size_t queue_limit, Run run,
               std::chrono::milliseconds queue_timeout = {}, Admission admission = {nullptr, nullptr});
  // Calls stop().
  ~BlockingPool();

  // Runs all queued requests, then stops the threads. Refuses further requests. Blocks until held lines are
  // released.
  void stop();

  // Returns false if too many requests wait. The last eighth of the limit is reserved for lines that are
  // empty, so that a flood of one client does not cause the requests of others to be refused. Does not
  // allocate. Thread-safe.
  bool submit(Line& line, InFlightRequest& request);
  // Ends the hold of a line: it takes turns again. The waiting time of its requests restarts. Thread-safe.
  void release(Line& line);
  // Removes the requests of a held line. Returns them linked by InFlightRequest::next, oldest first, or
  // nullptr if the line is not held. The caller must complete them. Thread-safe.
  InFlightRequest* take_held(Line& line);

  // --- For system_views. Thread-safe.
  engine::ThreadPool usage() const;
  std::vector<engine::RunningRequest> running() const;

 private:
  // The request that a thread is running.
  struct Slot {
    plan::PreparedPtr plan;  // nullptr: a BATCH, a login, or not planned yet
    std::chrono::steady_clock::time_point arrived, started;
    bool is_running = false, may_run_long = false;
    protocol::Opcode opcode = protocol::Opcode::query;
  };
  // Lines with queued requests, in the order of their turns.
  struct Queue {
    Line* first = nullptr;
    Line* last = nullptr;
  };
  enum class Duty : uint8_t { waits, computes };
  void work(size_t slot, Duty duty);
  void watch();
  bool has_room(const Line& line) const SIBYL_REQUIRES(mutex_);
  void take_place(Line& line) SIBYL_REQUIRES(mutex_);
  void notify_all();
  Queue* next_queue(Duty duty) SIBYL_REQUIRES(mutex_);  // nullptr: no request may start
  // Returns nullptr if the line was put on hold. Sets `next_ready` if another thread must be woken.
  InFlightRequest* next_request(Queue& queue, base::CondVar*& next_ready) SIBYL_REQUIRES(mutex_);
  InFlightRequest* take_from(Line& line) SIBYL_REQUIRES(mutex_);
  bool may_start(Line& line) SIBYL_REQUIRES(mutex_);
  void append(Line& line, InFlightRequest& request) SIBYL_REQUIRES(mutex_);
  void count_held(const Line& line, ptrdiff_t change) SIBYL_REQUIRES(mutex_);
  void hold(Line& line) SIBYL_REQUIRES(mutex_);
  // True if watch() must be woken.
  bool needs_watch() SIBYL_REQUIRES(mutex_);
  // Removes the requests that have waited for queue_timeout_, and returns them linked by
  // InFlightRequest::next.
  InFlightRequest* take_expired() SIBYL_REQUIRES(mutex_);
  void take_expired(Queue& queue, std::chrono::steady_clock::time_point oldest, InFlightRequest*& expired)
      SIBYL_REQUIRES(mutex_);

  const std::string name_;
  const size_t queue_limit_;
  const Run run_;
  const std::chrono::milliseconds queue_timeout_;
  const Admission admission_;
  const size_t max_long_running_;  // bounds long_running_now_
  // Number of threads for requests that wait, which use the first slots; the other threads run compute-heavy
  // requests.
  const size_t waiting_threads_;
  mutable base::Mutex mutex_;
  base::CondVar ready_, computing_ready_;
  base::CondVar all_busy_;  // wakes watch()
  // Lines with waiting requests. The kind of a line's oldest request decides in which queue the line is.
  Queue quick_ SIBYL_GUARDED_BY(mutex_);
  Queue long_running_ SIBYL_GUARDED_BY(mutex_);
  Queue computing_ SIBYL_GUARDED_BY(mutex_);
  uint64_t places_ SIBYL_GUARDED_BY(mutex_) = 0;    // the last Line::place_
  size_t waiting_ SIBYL_GUARDED_BY(mutex_) = 0;     // number of requests in lines that are not held
  size_t held_ SIBYL_GUARDED_BY(mutex_) = 0;        // number of requests in held lines
  size_t room_taken_ SIBYL_GUARDED_BY(mutex_) = 0;  // number of requests that wait and were never held
  size_t busy_ SIBYL_GUARDED_BY(mutex_) = 0;        // number of threads that run a request
  size_t long_running_now_ SIBYL_GUARDED_BY(mutex_) = 0;
  bool is_watching_ SIBYL_GUARDED_BY(mutex_) = false;
  bool stopping_ SIBYL_GUARDED_BY(mutex_) = false;
  std::vector<Slot> slots_ SIBYL_GUARDED_BY(mutex_);  // one per thread
  uint64_t completed_ SIBYL_GUARDED_BY(mutex_) = 0;
  uint64_t refused_ SIBYL_GUARDED_BY(mutex_) = 0;
  std::vector<std::thread> threads_;  // used only by the constructor and stop()
};

}  // namespace sibyl::server
