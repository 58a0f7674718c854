// Breaks a rule of base/mutex.h unless LOCKED is defined. Compiled only by cmake/thread_safety.cmake, which
// proves with it that the check of locks can fail.
#include "base/mutex.h"

class Counter {
 public:
  void count() {
#ifdef LOCKED
    const sibyl::base::MutexLock lock(mutex_);
#endif
    ++count_;
  }

 private:
  sibyl::base::Mutex mutex_;
  int count_ SIBYL_GUARDED_BY(mutex_) = 0;
};

int main() {
  Counter().count();
}
