// Threads for requests that may wait: scans, reads before writes, schema changes.
//
// Every client has a line of its own, and the lines take turns of one call each. So a call that stands behind
// n others of its line waits for at most n + 1 calls of any other, however many that has sent. The calls of
// one line are started in the order they were submitted in; several may run at once. Of calls that may last
// never so many run that no thread is left for others: who writes, defines or connects does not wait for
// scans. Calls that compute for long have a few threads of their own, with a low priority.
//
// A line whose next call may not start (Admission) is held: it takes no turns, and its calls do not expire,
// until release() is called for it. Calls that were held never count against the queue's limit again: a line
// that is released must not have the calls of other clients refused.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "engine/monitor.h"
#include "plan/prepared.h"
#include "protocol/frame.h"

namespace sibyl::server {

struct Call;

class BlockingPool {
 public:
  using Run = void (*)(Call&);

  // Both functions are called with the pool's lock held: they must be quick and must not use the pool.
  struct Admission {
    // Whether a call may start now; true: it does. nullptr: every call may.
    bool (*try_start)(Call&) = nullptr;
    // So many more calls of the line that `call` waits in are held, or fewer.
    void (*count_held)(const Call& call, ptrdiff_t change) = nullptr;
  };

  // The calls of one client that wait for a thread. Of one pool; it must live for as long as they wait. The
  // pool's lock guards it.
  class Line {
   public:
    Line() = default;
    Line(const Line&) = delete;
    Line& operator=(const Line&) = delete;

    // Whoever makes a refused call admissible does so first and then asks this; if true, it must call
    // release(). Thread-safe.
    bool is_held() const {
      std::atomic_thread_fence(std::memory_order_seq_cst);
      return is_held_.load(std::memory_order_relaxed);
    }

   private:
    friend class BlockingPool;
    Call* oldest_ = nullptr;  // linked by Call::next
    Call* newest_ = nullptr;
    Line* next_ = nullptr;  // whose turn it is then
    uint64_t place_ = 0;    // among all
    size_t size_ = 0;       // calls
    std::atomic<bool> is_held_{false};
  };

  // `name`: as system_views and metrics show it. `queue_limit`: how many calls that were never held may wait,
  // in all lines together. `patience`: those that have waited longer are run by a thread of their own, though every other
  // is busy: `run` must refuse them. 0: they wait on.
  BlockingPool(std::string name, unsigned threads, size_t queue_limit, Run run,
               std::chrono::milliseconds patience = {}, Admission admission = {nullptr, nullptr});
  // Stops.
  ~BlockingPool();

  // Runs what is queued, then ends its threads; nothing more may be submitted. Held lines must be released
  // meanwhile.
  void stop();

  // False when too many wait. The last eighth of the limit is for lines in which nothing waits yet, so that
  // those who send much do not have everybody refused. Allocates nothing. Any thread.
  bool submit(Line& line, Call& call);
  // A held line takes turns again; the time that its calls have waited begins anew. Thread-safe.
  void release(Line& line);
  // Takes the calls out of a held line, linked by Call::next in the order they came; nullptr when it is not
  // held. The caller completes them. Thread-safe.
  Call* take_held(Line& line);

  // --- For system_views. Any thread.
  engine::ThreadPool usage() const;
  std::vector<engine::RunningRequest> running() const;

 private:
  // What a thread is running.
  struct Slot {
    plan::PreparedPtr plan;  // nullptr: a BATCH, a login, or not made yet
    std::chrono::steady_clock::time_point arrived, started;
    bool is_running = false, may_last = false;
    protocol::Opcode opcode = protocol::Opcode::query;
  };
  // Lines in which calls wait, in the order of their turns.
  struct Queue {
    Line* first = nullptr;
    Line* last = nullptr;
  };
  enum class Duty : uint8_t { waits, computes };
  void work(Slot& slot, Duty duty);
  void watch();
  // Those REQUIRE the lock.
  bool has_room(const Line& line) const;
  void take_place(Line& line);
  void notify_all();
  Queue* next_queue(Duty duty);   // nullptr: nothing that may be started
  Call* next_call(Queue& queue);  // nullptr: the line whose turn it was is held now
  Call* take_from(Line& line);
  bool may_start(Line& line);
  void append(Line& line, Call& call);
  void count_held(const Line& line, ptrdiff_t change);
  void hold(Line& line);
  void watch_if_busy();
  // Those that have waited for too long, linked by Call::next.
  Call* take_expired();
  void take_expired(Queue& queue, std::chrono::steady_clock::time_point oldest, Call*& expired);

  const std::string name_;
  const size_t queue_limit_;
  const Run run_;
  const std::chrono::milliseconds patience_;
  const Admission admission_;
  const size_t most_lasting_;  // calls that run at once
  mutable std::mutex mutex_;   // guards what follows, up to the threads
  std::condition_variable ready_, computing_ready_;
  Queue quick_, lasting_, computing_;  // by what is first in a line
  uint64_t places_ = 0;                // that were taken
  size_t waiting_ = 0;                 // calls in all lines that are not held
  size_t held_ = 0;                    // calls in those that are
  size_t room_taken_ = 0;              // calls that wait and were never held
  size_t busy_ = 0;                    // threads
  size_t lasting_now_ = 0;
  bool is_watching_ = false;
  bool stopping_ = false;
  std::condition_variable all_busy_;  // for the thread that watches
  const size_t waiting_threads_;      // have the first slots; the others compute
  std::vector<Slot> slots_;           // one for each thread
  uint64_t completed_ = 0, refused_ = 0;
  std::vector<std::thread> threads_;
};

}  // namespace sibyl::server
