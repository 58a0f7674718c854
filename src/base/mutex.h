// Mutexes whose use clang checks: `./dev check` fails if a member is used without the mutex that guards it.
//
//   Mutex mutex_;
//   std::deque<Job> jobs_ SIBYL_GUARDED_BY(mutex_);    // every use needs the mutex
//   void take_job() SIBYL_REQUIRES(mutex_);            // callers must hold it
//   void submit(Job job) SIBYL_EXCLUDES(mutex_);       // callers must not hold it: it is locked inside
//
// Code of this project uses these types instead of those of the standard library, which clang cannot check.
// With other compilers the attributes are empty. The check is built by the preset `thread-safety`.
//
// The analysis examines one function at a time. It does not know that a lambda is called with a mutex held,
// so CondVar has no predicates: wait in a loop.
#pragma once

#include <atomic>
#include <chrono>
#include <climits>
#include <cstdint>
#include <mutex>
#include <shared_mutex>

#if defined(__clang__)
#define SIBYL_THREAD_SAFETY(attribute) __attribute__((attribute))
#else
#define SIBYL_THREAD_SAFETY(attribute)
#endif

// For members: the mutex that must be held for every use. The PT form is for pointers: the mutex that must be
// held for every use of the target.
#define SIBYL_GUARDED_BY(mutex) SIBYL_THREAD_SAFETY(guarded_by(mutex))
#define SIBYL_PT_GUARDED_BY(mutex) SIBYL_THREAD_SAFETY(pt_guarded_by(mutex))
// On functions: the mutexes that callers must hold, or must not hold.
#define SIBYL_REQUIRES(...) SIBYL_THREAD_SAFETY(requires_capability(__VA_ARGS__))
#define SIBYL_REQUIRES_SHARED(...) SIBYL_THREAD_SAFETY(requires_shared_capability(__VA_ARGS__))
#define SIBYL_EXCLUDES(...) SIBYL_THREAD_SAFETY(locks_excluded(__VA_ARGS__))
// On functions that lock or unlock for their caller.
#define SIBYL_ACQUIRE(...) SIBYL_THREAD_SAFETY(acquire_capability(__VA_ARGS__))
#define SIBYL_RELEASE(...) SIBYL_THREAD_SAFETY(release_capability(__VA_ARGS__))
#define SIBYL_TRY_ACQUIRE(...) SIBYL_THREAD_SAFETY(try_acquire_capability(__VA_ARGS__))
// On functions that are correct for a reason that the analysis cannot follow. Say the reason.
#define SIBYL_UNCHECKED_LOCKING SIBYL_THREAD_SAFETY(no_thread_safety_analysis)

namespace sibyl::base {

class SIBYL_THREAD_SAFETY(capability("mutex")) Mutex {
 public:
  Mutex() = default;
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;

  void lock() SIBYL_ACQUIRE() { mutex_.lock(); }
  void unlock() SIBYL_RELEASE() { mutex_.unlock(); }
  bool try_lock() SIBYL_TRY_ACQUIRE(true) { return mutex_.try_lock(); }

 private:
  std::mutex mutex_;
};

// A mutex for many readers or one writer.
class SIBYL_THREAD_SAFETY(capability("mutex")) SharedMutex {
 public:
  SharedMutex() = default;
  SharedMutex(const SharedMutex&) = delete;
  SharedMutex& operator=(const SharedMutex&) = delete;

  void lock() SIBYL_ACQUIRE() { mutex_.lock(); }
  void unlock() SIBYL_RELEASE() { mutex_.unlock(); }
  void lock_shared() SIBYL_THREAD_SAFETY(acquire_shared_capability()) { mutex_.lock_shared(); }
  void unlock_shared() SIBYL_THREAD_SAFETY(release_shared_capability()) { mutex_.unlock_shared(); }

 private:
  std::shared_mutex mutex_;
};

// Holds a Mutex, or a SharedMutex as its writer, until the end of the scope. unlock() and lock() may
// interrupt that.
template <typename Lockable>
class SIBYL_THREAD_SAFETY(scoped_lockable) MutexLock {
 public:
  explicit MutexLock(Lockable& mutex) SIBYL_ACQUIRE(mutex) : mutex_(mutex) { mutex_.lock(); }
  ~MutexLock() SIBYL_RELEASE() {
    if (is_held_) mutex_.unlock();
  }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

  void unlock() SIBYL_RELEASE() {
    mutex_.unlock();
    is_held_ = false;
  }
  void lock() SIBYL_ACQUIRE() {
    mutex_.lock();
    is_held_ = true;
  }

 private:
  Lockable& mutex_;
  bool is_held_ = true;
};

// Holds a SharedMutex as one of its readers until the end of the scope.
class SIBYL_THREAD_SAFETY(scoped_lockable) ReaderLock {
 public:
  explicit ReaderLock(SharedMutex& mutex) SIBYL_THREAD_SAFETY(acquire_shared_capability(mutex))
      : mutex_(mutex) {
    mutex_.lock_shared();
  }
  ~ReaderLock() SIBYL_THREAD_SAFETY(release_generic_capability()) { mutex_.unlock_shared(); }
  ReaderLock(const ReaderLock&) = delete;
  ReaderLock& operator=(const ReaderLock&) = delete;

 private:
  SharedMutex& mutex_;
};

// A condition variable for Mutex. A wait releases the mutex until it ends. As always, a wait may end without
// a notification.
//
// Notifying never blocks. std::condition_variable may wait in it until a thread that was woken earlier runs,
// so a thread with a low priority would delay others.
class CondVar {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;

  CondVar() = default;
  CondVar(const CondVar&) = delete;
  CondVar& operator=(const CondVar&) = delete;

  void notify_one() { notify(1); }
  void notify_all() { notify(INT_MAX); }

  void wait(Mutex& mutex) SIBYL_REQUIRES(mutex) { (void)wait_until(mutex, TimePoint::max()); }
  // Returns false if the deadline has passed.
  bool wait_until(Mutex& mutex, TimePoint deadline) SIBYL_REQUIRES(mutex);
  // Returns false if the time has passed.
  template <typename Rep, typename Period>
  bool wait_for(Mutex& mutex, std::chrono::duration<Rep, Period> time) SIBYL_REQUIRES(mutex) {
    return wait_until(mutex, std::chrono::steady_clock::now() + time);
  }

 private:
  void notify(int threads);

  std::atomic<uint32_t> notifications_{0};  // the futex; a change ends waits that are about to begin
  std::atomic<uint32_t> waiting_{0};
};

}  // namespace sibyl::base
