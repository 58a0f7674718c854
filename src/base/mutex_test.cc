#include "base/mutex.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace sibyl::base {
namespace {

// True if another thread can lock the mutex now.
bool is_free(Mutex& mutex) {
  bool locked = false;
  std::thread([&] {
    locked = mutex.try_lock();
    if (locked) mutex.unlock();
  }).join();
  return locked;
}

TEST(Mutex, IsHeldUntilTheEndOfTheScope) {
  Mutex mutex;
  {
    MutexLock lock(mutex);
    EXPECT_FALSE(is_free(mutex));
    lock.unlock();
    EXPECT_TRUE(is_free(mutex));
    lock.lock();
    EXPECT_FALSE(is_free(mutex));
  }
  EXPECT_TRUE(is_free(mutex));
  {
    MutexLock lock(mutex);
    lock.unlock();
  }
  EXPECT_TRUE(is_free(mutex));
}

TEST(CondVar, WaitingReleasesTheMutex) {
  Mutex mutex;
  CondVar changed;
  bool is_ready = false, was_seen = false;
  std::thread other([&] {
    const MutexLock lock(mutex);
    is_ready = true;
    changed.notify_one();
    while (!was_seen) changed.wait(mutex);
  });
  {
    const MutexLock lock(mutex);
    while (!is_ready) changed.wait(mutex);
    EXPECT_FALSE(is_free(mutex));
    was_seen = true;
  }
  changed.notify_all();
  other.join();
}

TEST(CondVar, AWaitEndsAtItsDeadline) {
  Mutex mutex;
  CondVar never;
  const MutexLock lock(mutex);
  while (never.wait_for(mutex, std::chrono::milliseconds(1))) continue;
  EXPECT_FALSE(never.wait_until(mutex, std::chrono::steady_clock::now()));
  EXPECT_FALSE(is_free(mutex));
}

TEST(SharedMutex, HasManyReadersOrOneWriter) {
  SharedMutex mutex;
  std::atomic<bool> has_written{false};
  std::thread writer;
  {
    const ReaderLock one(mutex);
    std::thread([&] { const ReaderLock other(mutex); }).join();
    writer = std::thread([&] {
      const MutexLock lock(mutex);
      has_written = true;
    });
    EXPECT_FALSE(has_written);
  }
  writer.join();
  EXPECT_TRUE(has_written);
}

}  // namespace
}  // namespace sibyl::base
