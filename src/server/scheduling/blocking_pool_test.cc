#include "server/scheduling/blocking_pool.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <future>
#include <list>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "server/connection/connection.h"

namespace sibyl::server {
namespace {

// Runs on the pool's threads: records every request that has started, and blocks in those named "gate".
class Recorder {
 public:
  static constexpr int16_t gate = -1;

  void run(const InFlightRequest& request) {
    std::unique_lock lock(mutex_);
    if (request.stream == gate) {
      is_at_gate_ = true;
      changed_.notify_all();
      changed_.wait(lock, [this] { return is_open_; });
    } else {
      order_.push_back(request.stream);
      changed_.notify_all();
    }
  }
  void await_gate() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return is_at_gate_; });
  }
  void await(size_t requests) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return order_.size() >= requests; });
  }
  void open() {
    const std::lock_guard lock(mutex_);
    is_open_ = true;
    changed_.notify_all();
  }
  std::vector<int16_t> order() {
    const std::lock_guard lock(mutex_);
    return order_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_at_gate_ = false, is_open_ = false;
  std::vector<int16_t> order_;
};

Recorder* recorder = nullptr;

// A pool with one thread, which is blocked until the test has submitted all requests.
class HeldPool {
 public:
  explicit HeldPool(size_t queue_limit, std::chrono::milliseconds queue_timeout = {}) {
    recorder = &recorder_;
    pool_.emplace(
        "Pool", 1, queue_limit, [](InFlightRequest& request) { recorder->run(request); }, queue_timeout);
    // The time is recent enough that the request does not expire.
    submit(gate_line_, Recorder::gate, std::chrono::steady_clock::now() + std::chrono::hours(1));
    recorder_.await_gate();
  }
  ~HeldPool() { finish(); }

  bool submit(BlockingPool::Line& line, int16_t name, std::chrono::steady_clock::time_point queued = {}) {
    calls_.emplace_back().stream = name;
    calls_.back().queued = queued;
    return pool_->submit(line, calls_.back());
  }
  engine::ThreadPool usage() const { return pool_->usage(); }
  void await(size_t requests) { recorder_.await(requests); }
  // Runs the waiting requests, and returns their names in the order in which they started.
  std::vector<int16_t> finish() {
    recorder_.open();
    pool_.reset();
    return recorder_.order();
  }

 private:
  Recorder recorder_;
  std::list<InFlightRequest> calls_;
  BlockingPool::Line gate_line_;
  std::optional<BlockingPool> pool_;
};

TEST(BlockingPool, AClientDoesNotWaitForAnotherClientsBacklog) {
  BlockingPool::Line many, few;
  HeldPool pool(4096);
  for (int16_t i = 0; i < 1000; ++i) ASSERT_TRUE(pool.submit(many, i));
  ASSERT_TRUE(pool.submit(few, 5000));
  EXPECT_EQ(pool.usage().pending, 1001u);
  const std::vector<int16_t> order = pool.finish();
  ASSERT_EQ(order.size(), 1001u);
  EXPECT_EQ(order[1], 5000);
}

// Reactors wait for the pool's lock.
TEST(BlockingPool, APlanIsDestroyedWithoutTheLock) {
  constexpr auto patience = std::chrono::seconds(5);
  std::promise<bool> was_free;
  BlockingPool::Line line;
  InFlightRequest request;
  // The last owner is the pool.
  BlockingPool pool("Pool", 1, 100, [](InFlightRequest& done) { done.plan.reset(); });
  const auto destroy = [&](plan::Prepared* plan) {
    auto used = std::async(std::launch::async, [&] { (void)pool.usage(); });
    was_free.set_value(used.wait_for(std::chrono::milliseconds(500)) == std::future_status::ready);
    delete plan;
    // Destroyed by another thread, because it waits for the thread that this one may be blocking.
    std::thread([used = std::move(used)]() mutable { used.wait(); }).detach();
  };
  request.plan = std::shared_ptr<plan::Prepared>(new plan::Prepared, destroy);
  ASSERT_TRUE(pool.submit(line, request));
  auto answer = was_free.get_future();
  ASSERT_EQ(answer.wait_for(patience), std::future_status::ready);
  EXPECT_TRUE(answer.get());
  pool.stop();
}

TEST(BlockingPool, RequestsOfOneClientStartInOrder) {
  BlockingPool::Line line;
  HeldPool pool(4096);
  for (int16_t i = 0; i < 1000; ++i) ASSERT_TRUE(pool.submit(line, i));
  const std::vector<int16_t> order = pool.finish();
  EXPECT_EQ(order.size(), 1000u);
  EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
}

// Lines take turns of one request each, in order of arrival, for any number and length of lines.
RC_GTEST_PROP(BlockingPool, LinesTakeTurns, ()) {
  constexpr size_t max_lines = 5;
  const auto owners = *rc::gen::container<std::vector<size_t>>(rc::gen::inRange<size_t>(0, max_lines));
  std::vector<BlockingPool::Line> lines(max_lines);
  std::vector<std::deque<int16_t>> waiting(max_lines);
  std::deque<size_t> turns;
  HeldPool pool(100'000);
  for (size_t i = 0; i < owners.size(); ++i) {
    const auto name = static_cast<int16_t>(i);
    if (waiting[owners[i]].empty()) turns.push_back(owners[i]);
    waiting[owners[i]].push_back(name);
    RC_ASSERT(pool.submit(lines[owners[i]], name));
  }
  std::vector<int16_t> expected;
  while (!turns.empty()) {
    const size_t owner = turns.front();
    turns.pop_front();
    expected.push_back(waiting[owner].front());
    waiting[owner].pop_front();
    if (!waiting[owner].empty()) turns.push_back(owner);
  }
  RC_ASSERT(pool.finish() == expected);
}

TEST(BlockingPool, TheLastEighthIsReservedForIdleClients) {
  BlockingPool::Line greedy;
  std::vector<BlockingPool::Line> others(9);
  HeldPool pool(64);
  size_t admitted = 0;
  while (pool.submit(greedy, 0)) ++admitted;
  EXPECT_EQ(admitted, 56u);
  for (size_t i = 0; i < 8; ++i) EXPECT_TRUE(pool.submit(others[i], 1)) << i;
  EXPECT_FALSE(pool.submit(others[8], 1));
  EXPECT_FALSE(pool.submit(others[0], 1));
  EXPECT_EQ(pool.usage().pending, 64u);
  EXPECT_EQ(pool.usage().refused, 3u);
  EXPECT_EQ(pool.finish().size(), 64u);
}

TEST(BlockingPool, ExpiredRequestsAreRefusedEvenIfAllThreadsAreBusy) {
  BlockingPool::Line first, second;
  HeldPool pool(64, std::chrono::milliseconds(20));
  const auto later = std::chrono::steady_clock::now() + std::chrono::hours(1);
  EXPECT_TRUE(pool.submit(first, 1));
  EXPECT_TRUE(pool.submit(first, 2, later));
  EXPECT_TRUE(pool.submit(second, 3));
  pool.await(2);
  EXPECT_EQ(pool.usage().pending, 1u) << "recent requests keep waiting";
  const std::vector<int16_t> order = pool.finish();
  ASSERT_EQ(order.size(), 3u);
  EXPECT_EQ(order.back(), 2);
}

// Scans leave threads for writes and logins, however many scans there are.
TEST(BlockingPool, LongReadsLeaveThreadsForOthers) {
  static std::atomic<size_t> held, ran;
  static std::atomic<bool> is_open;
  held = ran = 0;
  is_open = false;
  std::vector<BlockingPool::Line> lines(12);
  std::vector<InFlightRequest> requests(12);
  BlockingPool pool("Pool", 4, 100, [](InFlightRequest& request) {
    if (request.may_run_long) {
      ++held;
      while (!is_open) std::this_thread::yield();
    }
    ++ran;
  });
  for (size_t i = 0; i < requests.size(); ++i) {
    requests[i].may_run_long = i < 10;
    ASSERT_TRUE(pool.submit(lines[i], requests[i]));
  }
  while (ran < 2) std::this_thread::yield();
  EXPECT_LE(held, 2u);
  EXPECT_GE(pool.usage().pending, 8u);
  is_open = true;
  while (ran < requests.size()) std::this_thread::yield();
  EXPECT_EQ(held, 10u);
}

// A pool whose requests may start while their stream is at most `limit`.
struct Held {
  static inline std::atomic<int16_t> limit{0};
  static inline std::atomic<ptrdiff_t> held{0};
  static bool try_start(InFlightRequest& request) { return request.stream <= limit; }
  static void count(const InFlightRequest&, ptrdiff_t change) { held += change; }
};

TEST(BlockingPool, AHeldLineTakesNoTurnsOrSpaceAndDoesNotExpire) {
  static std::atomic<int> ran;
  ran = 0;
  Held::limit = 1;
  BlockingPool::Line slow, other;
  std::vector<InFlightRequest> requests(12);
  BlockingPool pool("Pool", 1, 4, [](InFlightRequest&) { ++ran; }, std::chrono::milliseconds(1),
                    {Held::try_start, Held::count});
  const auto submit = [&](BlockingPool::Line& line, size_t place, int16_t stream) {
    requests[place].stream = stream;
    requests[place].queued = std::chrono::steady_clock::now() + std::chrono::hours(place == 0 ? 1 : 0);
    return pool.submit(line, requests[place]);
  };
  ASSERT_TRUE(submit(slow, 0, 2));
  while (!slow.is_held()) std::this_thread::yield();
  for (size_t i = 1; i < 8; ++i) ASSERT_TRUE(submit(slow, i, 2)) << "held requests take no room";
  EXPECT_EQ(Held::held, 8);
  EXPECT_EQ(pool.usage().pending, 8u);
  for (size_t i = 8; i < 12; ++i) {
    ASSERT_TRUE(submit(other, i, 1));
    while (ran < static_cast<int>(i) - 7) std::this_thread::yield();
  }
  EXPECT_EQ(ran, 4);
  Held::limit = 2;
  ASSERT_TRUE(slow.is_held());
  pool.release(slow);
  while (ran < 12) std::this_thread::yield();
  EXPECT_EQ(Held::held, 0);
  EXPECT_EQ(pool.take_held(slow), nullptr);
}

TEST(BlockingPool, AReleasedLineTakesNoRoom) {
  static std::atomic<bool> is_open;
  is_open = false;
  Held::limit = 1;
  BlockingPool::Line slow, blocking, other;
  std::vector<InFlightRequest> requests(20);
  BlockingPool pool("Pool", 1, 4,
                    [](InFlightRequest&) {
                      while (!is_open) std::this_thread::yield();
                    },
                    {}, {Held::try_start, Held::count});
  const auto submit = [&](BlockingPool::Line& line, size_t place, int16_t stream) {
    requests[place].stream = stream;
    return pool.submit(line, requests[place]);
  };
  ASSERT_TRUE(submit(slow, 0, 2));
  while (!slow.is_held()) std::this_thread::yield();
  for (size_t i = 1; i < 8; ++i) ASSERT_TRUE(submit(slow, i, 2));
  ASSERT_TRUE(submit(blocking, 8, 1));
  while (pool.usage().active == 0) std::this_thread::yield();
  Held::limit = 2;
  pool.release(slow);
  EXPECT_EQ(pool.usage().pending, 8u);
  size_t submitted = 9;
  for (size_t i = 9; i < 14; ++i) submitted += submit(other, i, 1);
  EXPECT_EQ(submitted, 13u) << "four that were never held may wait";
  is_open = true;
  while (pool.usage().completed < submitted) std::this_thread::yield();
  for (size_t i = 14; i < 18; ++i) EXPECT_TRUE(submit(other, i, 1)) << "the room is free again";
}

TEST(BlockingPool, HeldRequestsCanBeTakenBack) {
  Held::limit = 0;
  BlockingPool::Line line;
  std::vector<InFlightRequest> requests(3);
  BlockingPool pool("Pool", 2, 4, [](InFlightRequest&) { FAIL(); }, {}, {Held::try_start, Held::count});
  for (InFlightRequest& request : requests) request.stream = 1;
  ASSERT_TRUE(pool.submit(line, requests[0]));
  while (!line.is_held()) std::this_thread::yield();
  for (size_t i = 1; i < 3; ++i) ASSERT_TRUE(pool.submit(line, requests[i]));
  InFlightRequest* taken = pool.take_held(line);
  for (InFlightRequest& request : requests) {
    EXPECT_EQ(taken, &request);
    taken = taken->next;
  }
  EXPECT_EQ(taken, nullptr);
  EXPECT_FALSE(line.is_held());
  EXPECT_EQ(Held::held, 0);
}

// Admission changes all the time. Every request must run once, and none may be left in a held line.
TEST(BlockingPool, HeldLinesAreNotForgotten) {
  constexpr size_t rounds = 20'000;
  static std::atomic<int64_t> free;
  static std::atomic<size_t> ran;
  free = 1;
  ran = 0;
  BlockingPool::Line line;
  std::vector<InFlightRequest> requests(rounds);
  BlockingPool pool("Pool", 4, 2 * rounds, [](InFlightRequest&) { ++ran; }, {},
                    {[](InFlightRequest&) {
                       if (free.load(std::memory_order_relaxed) <= 0) return false;
                       free.fetch_sub(1, std::memory_order_relaxed);
                       return true;
                     },
                     nullptr});
  for (InFlightRequest& request : requests) ASSERT_TRUE(pool.submit(line, request));
  for (size_t i = 1; i < rounds; ++i) {
    free.fetch_add(1, std::memory_order_relaxed);
    if (line.is_held()) pool.release(line);
  }
  while (ran < rounds) std::this_thread::yield();
  EXPECT_EQ(ran, rounds);
}

TEST(BlockingPool, ManyThreadsRunEverythingOnce) {
  constexpr size_t clients = 16, requests_of_each = 500;
  static std::atomic<size_t> ran;
  ran = 0;
  std::vector<BlockingPool::Line> lines(clients);
  std::vector<InFlightRequest> requests(clients * requests_of_each);
  {
    BlockingPool pool("Pool", 8, requests.size() * 2, [](InFlightRequest& request) {
      ++request.frame_bytes;  // if two threads ran the same request, this would be a race
      ++ran;
    });
    std::vector<std::thread> senders;
    for (size_t client = 0; client < clients; ++client)
      senders.emplace_back([&, client] {
        for (size_t i = 0; i < requests_of_each; ++i)
          EXPECT_TRUE(pool.submit(lines[client], requests[client * requests_of_each + i]));
      });
    for (auto& sender : senders) sender.join();
  }
  EXPECT_EQ(ran, requests.size());
  EXPECT_TRUE(std::all_of(requests.begin(), requests.end(),
                          [](const InFlightRequest& request) { return request.frame_bytes == 1; }));
}

}  // namespace
}  // namespace sibyl::server
