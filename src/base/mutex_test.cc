#include "base/mutex.h"

#include <gtest/gtest.h>

#include <pthread.h>
#include <signal.h>

#include <atomic>
#include <future>
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

std::atomic<bool> is_frozen = false, may_continue = false;

// Runs in the thread that is to be frozen.
void freeze(int) {
  is_frozen = true;
  const timespec pause{0, 1'000'000};
  while (!may_continue) nanosleep(&pause, nullptr);
}

// The first thread is woken and does not run, as if its priority were low.
TEST(CondVar, NotifyingDoesNotWaitForAThreadThatWasWoken) {
  struct sigaction action{};
  action.sa_handler = freeze;
  ASSERT_EQ(sigaction(SIGUSR1, &action, nullptr), 0);
  Mutex mutex;
  CondVar changed, begun;
  int waiting = 0;
  bool is_done = false;
  const auto wait = [&] {
    const MutexLock lock(mutex);
    ++waiting;
    begun.notify_one();
    while (!is_done) changed.wait(mutex);
  };
  const auto wait_for_waiting = [&](int wanted) {
    const MutexLock lock(mutex);
    while (waiting < wanted) begun.wait(mutex);
  };
  std::thread first(wait);
  wait_for_waiting(1);
  pthread_kill(first.native_handle(), SIGUSR1);
  while (!is_frozen) std::this_thread::yield();
  changed.notify_one();
  std::thread second(wait);
  wait_for_waiting(2);
  auto notified = std::async(std::launch::async, [&] { changed.notify_one(); });
  EXPECT_EQ(notified.wait_for(std::chrono::seconds(5)), std::future_status::ready);
  may_continue = true;
  {
    const MutexLock lock(mutex);
    is_done = true;
  }
  changed.notify_all();
  first.join();
  second.join();
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
