#include "server/connection/flow_control.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>

namespace sibyl::server {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;
using Verdict = FlowControl::Verdict;

class FlowControlTest : public testing::Test {
 protected:
  static Limits small_limits() {
    Limits limits;
    limits.requests_in_flight = 10;
    limits.bytes_in_flight = 1000;
    limits.total_requests_in_flight = 100;
    limits.total_bytes_in_flight = 10'000;
    limits.unsent_bytes = 5000;
    return limits;
  }
  void begin(const Limits& limits) {
    limits_ = limits;
    flow_.emplace(limits_, server_, own_, backlog_, rate_);
    flow_->begin_turn(std::chrono::steady_clock::now());
  }
  void SetUp() override { begin(small_limits()); }
  Verdict check(size_t unsent = 0) { return flow_->check(unsent, 0, round_); }
  // The message of the error, or "".
  std::string refusal(bool is_late = false) {
    const std::optional<base::Error> error = flow_->refusal(is_late, 0);
    if (error) {
      EXPECT_EQ(error->code(), base::ErrorCode::overloaded);
    }
    return error ? error->message() : "";
  }

  Limits limits_ = small_limits();
  ServerLoad server_{limits_};
  ReactorLoad& own_ = server_.add_reactor();
  ReactorLoad& other_ = server_.add_reactor();
  BlockingPool pool_{"test", 1, 10, [](InFlightRequest&) {}};
  ResultBacklog backlog_{limits_, server_, own_, pool_};
  RateLimiter rate_{10};
  std::optional<FlowControl> flow_;
  FlowControl::Round round_{std::chrono::hours(1), false};
};

TEST_F(FlowControlTest, ProceedsWithinTheLimits) {
  for (uint32_t i = 1; i <= 100; ++i) {
    EXPECT_EQ(check(4999), Verdict::proceed);
    EXPECT_EQ(flow_->taken(), i);
  }
  EXPECT_FALSE(flow_->is_stopped());
}

TEST_F(FlowControlTest, StopsAtTheLimitOfRequestsAndResumesAtHalf) {
  for (int i = 0; i < 10; ++i) flow_->add_request(1);
  EXPECT_EQ(check(), Verdict::at_limit);
  EXPECT_TRUE(flow_->is_stopped());
  for (int i = 10; i > 5; --i) {
    flow_->remove_request(1);
    EXPECT_EQ(check(), Verdict::at_limit) << i;
  }
  flow_->remove_request(1);
  EXPECT_EQ(check(), Verdict::proceed);
  EXPECT_FALSE(flow_->is_stopped());
  // The connection is not stopped, so the whole limit is valid again.
  for (int i = 4; i < 9; ++i) flow_->add_request(1);
  EXPECT_EQ(check(), Verdict::proceed);
}

TEST_F(FlowControlTest, StopsAtTheLimitOfBytes) {
  flow_->add_request(999);
  EXPECT_EQ(check(), Verdict::proceed);
  flow_->add_request(1);
  EXPECT_EQ(check(), Verdict::at_limit);
}

TEST_F(FlowControlTest, StopsForAClientThatDoesNotRead) {
  EXPECT_EQ(check(5000), Verdict::at_limit);
  EXPECT_TRUE(flow_->waiting().is_client_behind());
  EXPECT_EQ(check(2500), Verdict::at_limit);
  EXPECT_EQ(check(2499), Verdict::proceed);
  EXPECT_FALSE(flow_->waiting().is_client_behind());
  backlog_.add_waiting(4000);  // results that wait for the reactor count as well
  EXPECT_EQ(check(1000), Verdict::at_limit);
  backlog_.remove_waiting(4000);
}

TEST_F(FlowControlTest, AConnectionWithNothingInFlightWaitsOnlyForTheServersLimits) {
  own_.set_max_requests(5);
  for (int i = 0; i < 5; ++i) own_.add_request(10);
  EXPECT_EQ(check(), Verdict::proceed);
  flow_->add_request(1);
  EXPECT_EQ(check(), Verdict::others_first);
  own_.count_held(1);  // held requests do not delay others
  EXPECT_EQ(check(), Verdict::proceed);
  own_.count_held(-1);
  flow_->remove_request(1);
  for (int i = 0; i < 95; ++i) other_.add_request(10);
  EXPECT_EQ(check(), Verdict::others_first);
}

TEST_F(FlowControlTest, StarvedConnectionsComeFirstAfterAQuantum) {
  round_.has_starved = true;
  for (int i = 0; i < 16; ++i) EXPECT_EQ(check(), Verdict::proceed) << i;
  EXPECT_EQ(check(), Verdict::others_first);
  flow_->begin_turn(std::chrono::steady_clock::now());
  EXPECT_EQ(check(), Verdict::proceed);
}

TEST_F(FlowControlTest, ATurnEnds) {
  round_.turn = milliseconds(0);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(check(), Verdict::proceed) << i;
  EXPECT_EQ(check(), Verdict::turn_over);
  EXPECT_TRUE(flow_->is_stopped());
  flow_->begin_turn(std::chrono::steady_clock::now());
  EXPECT_EQ(check(), Verdict::proceed);
}

TEST_F(FlowControlTest, RequestsThatHaveWaitedTooLongAreRefusedNotHeldBack) {
  Limits limits = small_limits();
  limits.queue_timeout = milliseconds(0);
  begin(limits);
  for (int i = 0; i < 100; ++i) other_.add_request(1);
  EXPECT_EQ(check(), Verdict::others_first);
  flow_->waiting().mark(coarse_now(), 100);
  EXPECT_EQ(check(), Verdict::proceed);
  EXPECT_EQ(refusal(), "Query timed out before it could start");
}

TEST_F(FlowControlTest, ALateReactorRefuses) {
  EXPECT_EQ(refusal(true), "Query timed out before it could start");
  EXPECT_EQ(refusal(), "");
}

TEST_F(FlowControlTest, ClientsThatAskedForErrorsAreRefusedInstead) {
  backlog_.set_throws_on_overload(true);
  EXPECT_EQ(refusal(), "");
  for (int i = 0; i < 10; ++i) flow_->add_request(7);
  EXPECT_EQ(check(), Verdict::proceed);
  EXPECT_THAT(refusal(), HasSubstr("(Endpoint: 70/1000 bytes, Global: 0/10000 bytes.)"));
  for (int i = 0; i < 10; ++i) flow_->remove_request(7);
  EXPECT_EQ(refusal(), "");
  for (int i = 0; i < 100; ++i) other_.add_request(1);
  EXPECT_EQ(check(), Verdict::proceed);
  EXPECT_THAT(refusal(), HasSubstr("Request breached limit on bytes in flight."));
  // Even these clients wait until they have read their responses.
  EXPECT_EQ(check(5000), Verdict::at_limit);
}

TEST_F(FlowControlTest, TheRateIsLimited) {
  Limits limits = small_limits();
  limits.requests_per_second = 10;
  begin(limits);
  EXPECT_EQ(check(), Verdict::proceed);
  for (int i = 0; i < 50; ++i) EXPECT_EQ(refusal(), "");
  EXPECT_EQ(check(), Verdict::others_first);
  backlog_.set_throws_on_overload(true);
  EXPECT_EQ(check(), Verdict::proceed);
  EXPECT_THAT(refusal(), HasSubstr("Request breached global limit of 10 requests/second."));
}

}  // namespace
}  // namespace sibyl::server
