#include "server/connection/result_backlog.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "server/in_flight_request.h"

namespace sibyl::server {
namespace {

std::atomic<int> ran{0};
ResultBacklog* admitting = nullptr;

class ResultBacklogTest : public testing::Test {
 protected:
  ResultBacklogTest() {
    ran = 0;
    admitting = &backlog_;
  }
  ~ResultBacklogTest() override {
    backlog_.close();
    pool_.stop();
  }
  static Limits small_limits() {
    Limits limits;
    limits.unsent_bytes_overload = 1'000'000;
    limits.total_unsent_bytes = 10'000'000;
    return limits;
  }
  void submit(InFlightRequest& request) {
    backlog_.enter();
    ASSERT_TRUE(backlog_.submit(request));
  }
  template <typename Condition>
  static bool await(Condition condition) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (!condition())
      if (std::chrono::steady_clock::now() > deadline) return false;
    return true;
  }

  const Limits limits_ = small_limits();
  ServerLoad server_{limits_};
  ReactorLoad& own_ = server_.add_reactor();
  ReactorLoad& other_ = server_.add_reactor();
  BlockingPool pool_{
      "test", 1,
      10,     [](InFlightRequest&) { ++ran; },
      {},     {[](InFlightRequest& request) { return admitting->try_start(request); }, nullptr}};
  ResultBacklog backlog_{limits_, server_, own_, pool_};
};

TEST_F(ResultBacklogTest, IsFullAtTheLimitOfItsConnection) {
  backlog_.set_unsent(600'000);
  backlog_.add_waiting(399'999);
  EXPECT_FALSE(backlog_.is_full());
  backlog_.add_waiting(1);
  EXPECT_TRUE(backlog_.is_full());
  EXPECT_EQ(server_.unsent_bytes(), 1'000'000u);
  backlog_.remove_waiting(400'000);
  EXPECT_FALSE(backlog_.is_full());
  backlog_.set_unsent(0);
  EXPECT_EQ(server_.unsent_bytes(), 0u);
}

TEST_F(ResultBacklogTest, IsFullWhenAllHoldTooMuchAndItHoldsMuchOfThat) {
  other_.count_unsent(0, 10'000'000);
  EXPECT_FALSE(backlog_.is_full());
  backlog_.set_unsent(63 << 10);
  EXPECT_FALSE(backlog_.is_full());
  backlog_.set_unsent(64 << 10);
  EXPECT_TRUE(backlog_.is_full());
  other_.count_unsent(10'000'000, 0);
  EXPECT_FALSE(backlog_.is_full());
}

TEST_F(ResultBacklogTest, ExpectedResultsCountAsHeld) {
  InFlightRequest first, second, third;
  backlog_.enter();
  EXPECT_TRUE(backlog_.try_start(first));
  first.result_bytes = 600'000;
  backlog_.leave(first);
  backlog_.enter();
  EXPECT_TRUE(backlog_.try_start(second));
  EXPECT_TRUE(backlog_.try_start(second));  // the request was submitted again, so it is counted once
  backlog_.set_unsent(399'999);
  EXPECT_TRUE(backlog_.try_start(third));
  InFlightRequest fourth;
  EXPECT_FALSE(backlog_.try_start(fourth));
}

TEST_F(ResultBacklogTest, ClientsThatAskedForErrorsAreNotHeld) {
  backlog_.set_unsent(2'000'000);
  InFlightRequest request;
  EXPECT_FALSE(backlog_.try_start(request));
  backlog_.set_throws_on_overload(true);
  EXPECT_TRUE(backlog_.try_start(request));
}

TEST_F(ResultBacklogTest, HeldRequestsStartOnceTheClientHasReadHalf) {
  backlog_.set_unsent(1'000'000);
  InFlightRequest request;
  submit(request);
  ASSERT_TRUE(await([&] { return backlog_.is_held(); }));
  backlog_.set_unsent(500'000);
  backlog_.release_if_read();
  EXPECT_TRUE(backlog_.is_held());
  EXPECT_EQ(ran, 0);
  backlog_.set_unsent(499'999);
  backlog_.release_if_read();
  EXPECT_TRUE(await([&] { return ran == 1; }));
  EXPECT_FALSE(backlog_.is_held());
}

TEST_F(ResultBacklogTest, HeldRequestsCanBeTaken) {
  EXPECT_EQ(backlog_.take_held(), nullptr);
  backlog_.set_unsent(1'000'000);
  InFlightRequest first, second;
  submit(first);
  submit(second);
  ASSERT_TRUE(await([&] { return backlog_.is_held(); }));
  EXPECT_EQ(backlog_.take_held(), &first);
  EXPECT_EQ(first.next, &second);
  EXPECT_EQ(second.next, nullptr);
  EXPECT_EQ(ran, 0);
}

TEST_F(ResultBacklogTest, HeldRequestsStartWhenTheClientDisconnects) {
  backlog_.set_unsent(1'000'000);
  InFlightRequest request;
  submit(request);
  ASSERT_TRUE(await([&] { return backlog_.is_held(); }));
  EXPECT_FALSE(backlog_.is_closed());
  backlog_.close();
  EXPECT_TRUE(backlog_.is_closed());
  EXPECT_TRUE(backlog_.is_full());
  EXPECT_TRUE(await([&] { return ran == 1; }));
  EXPECT_EQ(server_.unsent_bytes(), 0u);
}

}  // namespace
}  // namespace sibyl::server
