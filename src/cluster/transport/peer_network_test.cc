// Servers that call each other in one process, over real sockets.
#include "cluster/transport/peer_network.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <future>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "cluster/transport/frame.h"
#include "cluster/transport/handshake.h"

namespace sibyl::cluster {
namespace {

using Outcome = CallResult::Outcome;
using testing::HasSubstr;

Peers::Time after(std::chrono::milliseconds time) {
  return std::chrono::steady_clock::now() + time;
}
constexpr std::chrono::milliseconds long_time{60'000};

PeerService::Handler echo() {
  return [](PeerService::Call call, PeerService::Answer answer) {
    answer(call.from + ":" + std::move(call.message));
  };
}

class PeerNetworkTest : public testing::TestWithParam<bool> {
 protected:
  std::unique_ptr<PeerNetwork> start(const MemberId& own, const std::string& secret = "secret") {
    auto network =
        PeerNetwork::start({.host = "127.0.0.1", .own = own, .secret = secret, .is_encrypted = GetParam()});
    EXPECT_TRUE(network) << network.error().text();
    return std::move(*network);
  }
  // Adds a member to the state, which the servers receive with share().
  void add(const MemberId& id, const PeerNetwork& network) {
    state_.members[id.name] = {.incarnation = id.incarnation,
                               .peer_address = fmt::format("127.0.0.1:{}", network.port())};
  }
  CallResult call(PeerNetwork& from, const MemberId& to, Method method, const std::string& message,
                  std::chrono::milliseconds time = long_time) {
    return from.call(to, method, message, after(time));
  }

  State state_;
  const MemberId a_{"a", 1}, b_{"b", 7};
};

INSTANTIATE_TEST_SUITE_P(Plain, PeerNetworkTest, testing::Values(false));
INSTANTIATE_TEST_SUITE_P(Encrypted, PeerNetworkTest, testing::Values(true));

TEST_P(PeerNetworkTest, CallsAreAnswered) {
  const auto a = start(a_), b = start(b_);
  add(b_, *b);
  a->follow(state_);
  b->handle(Method::execute, echo(), 2);
  b->handle(Method::read, echo(), 0);
  EXPECT_EQ(call(*a, b_, Method::ping, "are you there").answer, "are you there");
  EXPECT_EQ(call(*a, b_, Method::execute, "x").answer, "a:x");
  EXPECT_EQ(call(*a, b_, Method::read, "").answer, "a:");
  const std::string large(5'000'000, 'l');
  EXPECT_EQ(call(*a, b_, Method::execute, large).answer, "a:" + large);
}

TEST_P(PeerNetworkTest, ManyCallsOfManyThreadsShareAConnection) {
  const auto a = start(a_), b = start(b_);
  add(b_, *b);
  a->follow(state_);
  b->handle(Method::execute, echo(), 2);
  b->handle(Method::read, echo(), 0);
  constexpr int threads = 4, calls = 500;
  std::atomic<int> right = 0, ended = 0;
  std::promise<void> all;
  std::vector<std::thread> callers;
  for (int thread = 0; thread < threads; ++thread)
    callers.emplace_back([&, thread] {
      for (int i = 0; i < calls; ++i) {
        const std::string text = fmt::format("{}/{}", thread, i);
        a->call(b_, i % 2 == 0 ? Method::execute : Method::read, text, after(long_time),
                [&, text](CallResult result) {
                  if (result.is_answered() && result.answer == "a:" + text) ++right;
                  if (++ended == threads * calls) all.set_value();
                });
      }
    });
  for (std::thread& one : callers) one.join();
  all.get_future().wait();
  EXPECT_EQ(right, threads * calls);
}

TEST_P(PeerNetworkTest, WhatIsNotDeliveredIsNotSent) {
  const auto a = start(a_);
  auto b = start(b_);
  EXPECT_EQ(call(*a, b_, Method::ping, "").outcome, Outcome::not_sent);  // not a member
  add(b_, *b);
  a->follow(state_);
  const CallResult without_handler = call(*a, b_, Method::execute, "");
  EXPECT_EQ(without_handler.outcome, Outcome::not_sent);
  EXPECT_THAT(without_handler.why, HasSubstr("does not accept"));
  b->handle(Method::execute, echo(), 1);
  EXPECT_TRUE(call(*a, b_, Method::execute, "").is_answered());
  b->handle(Method::execute, {}, 0);
  EXPECT_EQ(call(*a, b_, Method::execute, "").outcome, Outcome::not_sent);
  b.reset();
  EXPECT_NE(call(*a, b_, Method::ping, "").outcome, Outcome::answered);
  EXPECT_EQ(call(*a, b_, Method::ping, "").outcome, Outcome::not_sent);  // no server listens
}

TEST_P(PeerNetworkTest, AnotherIncarnationIsNotCalled) {
  const auto a = start(a_), b = start({"b", 8});
  b->handle(Method::execute, [](auto, auto) { FAIL(); }, 0);
  add(b_, *b);  // the state has the former incarnation, at the same address
  a->follow(state_);
  const CallResult result = call(*a, b_, Method::execute, "");
  EXPECT_EQ(result.outcome, Outcome::not_sent);
  EXPECT_THAT(result.why, HasSubstr("this is b-8"));
}

TEST_P(PeerNetworkTest, ServersOfAnotherClusterAreRefusedByBothSides) {
  const auto a = start(a_), b = start(b_, "another secret");
  b->handle(Method::execute, [](auto, auto) { FAIL(); }, 0);
  add(b_, *b);
  a->follow(state_);
  EXPECT_EQ(call(*a, b_, Method::execute, "").outcome, Outcome::not_sent);
}

TEST_P(PeerNetworkTest, ALateOrAbandonedAnswerIsUnknown) {
  const auto a = start(a_), b = start(b_);
  add(b_, *b);
  a->follow(state_);
  std::promise<PeerService::Answer> kept;
  b->handle(
      Method::execute,
      [&](PeerService::Call call, PeerService::Answer answer) {
        if (call.message == "throw") throw std::runtime_error("thrown");
        if (call.message == "keep") kept.set_value(std::move(answer));
      },
      1);
  EXPECT_EQ(call(*a, b_, Method::execute, "abandon").outcome, Outcome::unknown);
  EXPECT_EQ(call(*a, b_, Method::execute, "throw").outcome, Outcome::unknown);
  ASSERT_TRUE(call(*a, b_, Method::ping, "").is_answered());
  EXPECT_EQ(call(*a, b_, Method::execute, "keep", std::chrono::milliseconds(50)).outcome, Outcome::unknown);
  kept.get_future().get()("late");
  EXPECT_TRUE(call(*a, b_, Method::ping, "").is_answered());
}

// Calls to a member that is gone end before their deadline.
TEST_P(PeerNetworkTest, CallsEndWhenTheirMemberLeavesOrStops) {
  const auto a = start(a_);
  auto b = start(b_);
  add(b_, *b);
  a->follow(state_);
  std::vector<PeerService::Answer> kept;
  std::promise<void> first, second;
  b->handle(
      Method::execute,
      [&](PeerService::Call, PeerService::Answer answer) {
        kept.push_back(std::move(answer));
        (kept.size() == 1 ? first : second).set_value();
      },
      0);
  auto ended =
      std::async(std::launch::async, [&] { return call(*a, b_, Method::execute, "", long_time * 100); });
  first.get_future().wait();
  a->follow(State());
  EXPECT_EQ(ended.get().outcome, Outcome::unknown);
  a->follow(state_);
  ended = std::async(std::launch::async, [&] { return call(*a, b_, Method::execute, "", long_time * 100); });
  second.get_future().wait();
  b.reset();
  EXPECT_EQ(ended.get().outcome, Outcome::unknown);
}

// A handler that waits for a call of another method does not keep its server from stopping.
TEST_P(PeerNetworkTest, HandlersMayCallOtherMethods) {
  auto a = start(a_), b = start(b_);
  add(a_, *a);
  add(b_, *b);
  a->follow(state_);
  b->follow(state_);
  a->handle(Method::read, echo(), 1);
  b->handle(
      Method::execute,
      [&](PeerService::Call call, PeerService::Answer answer) {
        answer(b->call(a_, Method::read, call.message, call.deadline).answer);
      },
      1);
  EXPECT_EQ(call(*a, b_, Method::execute, "x").answer, "b:x");
  std::promise<PeerService::Answer> kept;
  a->handle(
      Method::read, [&](PeerService::Call, PeerService::Answer answer) { kept.set_value(std::move(answer)); },
      1);
  auto waiting =
      std::async(std::launch::async, [&] { return call(*a, b_, Method::execute, "", long_time * 100); });
  const auto unanswered = kept.get_future().get();
  b.reset();
  EXPECT_EQ(waiting.get().outcome, Outcome::unknown);
}

// Sends the bytes over a new connection without encryption, and returns what it receives until it is closed.
std::string exchange(uint16_t port, const std::string& bytes) {
  const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT_EQ(::connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  (void)::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
  ::shutdown(socket, SHUT_WR);
  std::string answer;
  char buffer[4096];
  for (ssize_t size = 0; (size = ::recv(socket, buffer, sizeof buffer, 0)) > 0;)
    answer.append(buffer, static_cast<size_t>(size));
  ::close(socket);
  return answer;
}

// A server with another version of the protocol is told why it is refused.
TEST_P(PeerNetworkTest, OtherVersionsAreRefusedWithAReason) {
  if (GetParam()) GTEST_SKIP() << "the connection of the test is not encrypted";
  const auto b = start(b_);
  std::string hello = Hello{a_, b_, std::string(nonce_size, 'n')}.encode();
  hello.replace(hello.find('1'), 1, "2");
  base::Bytes frame;
  append_frame(frame, {PeerFrame::Kind::hello, 0, hello});
  EXPECT_THAT(exchange(b->port(), frame),
              HasSubstr("it does not speak version 2 of the protocol between servers"));
}

// A client without the secret cannot complete the handshake, and disturbs no other connection.
TEST_P(PeerNetworkTest, GarbageIsRefused) {
  const auto a = start(a_), b = start(b_);
  add(b_, *b);
  a->follow(state_);
  b->handle(Method::execute, echo(), 1);
  base::Bytes call_without_handshake;
  append_frame(call_without_handshake, {PeerFrame::Kind::call, 1, base::BytesView("\1\0\0\1\0x", 6)});
  base::Bytes replayed_proof;
  append_frame(replayed_proof,
               {PeerFrame::Kind::hello, 0, Hello{a_, b_, std::string(nonce_size, 'n')}.encode()});
  append_frame(replayed_proof, {PeerFrame::Kind::proof, 0, std::string(mac_size, 'm')});
  for (const std::string& bytes : {std::string("GET / HTTP/1.1\r\n\r\n"), std::string(100'000, '\xff'),
                                   call_without_handshake, replayed_proof}) {
    const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(b->port());
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    ASSERT_EQ(::connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    (void)::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    ssize_t size = 0;
    do {  // read until the other side closes the connection
      char buffer[4096];
      size = ::recv(socket, buffer, sizeof buffer, 0);
      if (size > 0) {
        EXPECT_EQ(std::string_view(buffer, size).find("a:x"), std::string_view::npos);
      }
    } while (size > 0);
    ::close(socket);
  }
  EXPECT_EQ(call(*a, b_, Method::execute, "x").answer, "a:x");
}

}  // namespace
}  // namespace sibyl::cluster
