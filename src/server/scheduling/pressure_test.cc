#include "server/scheduling/pressure.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/monitoring/monitor.h"
#include "server/test_client.h"

namespace sibyl::server {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;
using TimePoint = std::chrono::steady_clock::time_point;

TEST(LagProbeTest, AnEventThatWaitsForItsTurnIsLate) {
  boost::asio::io_context context;
  LagProbe probe(context, milliseconds(500));
  probe.start();
  TimePoint now = std::chrono::steady_clock::now();
  probe.tick(now);
  for (int i = 0; i < 9; ++i) probe.tick(now += milliseconds(50));
  EXPECT_FALSE(probe.is_late());
  probe.tick(now += milliseconds(50));
  EXPECT_TRUE(probe.is_late());
  context.poll();  // handles the probe's event
  EXPECT_FALSE(probe.is_late());
  probe.stop();
}

TEST(LagProbeTest, APauseOfTheThreadIsNotLate) {
  boost::asio::io_context context;
  LagProbe probe(context, milliseconds(500));
  probe.start();
  TimePoint now = std::chrono::steady_clock::now();
  probe.tick(now);
  probe.tick(now += milliseconds(60'000));
  EXPECT_FALSE(probe.is_late());
  probe.stop();
}

TEST(RateLimiterTest, LimitsRequestsPerSecond) {
  RateLimiter rate(1000);
  TimePoint now = std::chrono::steady_clock::now();
  int taken = 0;
  for (int i = 0; i < 2000; ++i) {
    taken += rate.try_reserve(now);
    now += std::chrono::microseconds(500);
  }
  EXPECT_NEAR(taken, 1100, 5);
  RateLimiter patient(1000);
  for (int i = 0; i < 100; ++i) EXPECT_LE(patient.reserve(now), milliseconds(0)) << i;
  EXPECT_EQ(patient.reserve(now), milliseconds(1));
  EXPECT_EQ(patient.reserve(now), milliseconds(2));
}

TEST(RequestsInFlightTest, FollowTheRateAndTheSyncTime) {
  constexpr size_t most = 32'768;
  using std::chrono::microseconds;
  EXPECT_EQ(max_requests_in_flight(0, microseconds(0), most), 256u);
  EXPECT_EQ(max_requests_in_flight(0, microseconds(0), 100), 100u);
  EXPECT_EQ(max_requests_in_flight(100'000, microseconds(0), most), 2'500u);
  EXPECT_EQ(max_requests_in_flight(100'000, microseconds(1'000), most), 2'500u);
  EXPECT_EQ(max_requests_in_flight(100'000, microseconds(10'000), most), 6'000u);
  EXPECT_EQ(max_requests_in_flight(100'000, microseconds(1'000'000), most), 10'000u);
  EXPECT_EQ(max_requests_in_flight(1e9, microseconds(0), most), most);
}

class PressureTest : public ServerTest {
 protected:
  // Blocks until there are `count` connections.
  void await_clients(size_t count) {
    while (engine_.clients().size() != count) std::this_thread::yield();
  }
  template <typename Condition>
  static void await(const Condition& condition) {
    const TimePoint deadline = std::chrono::steady_clock::now() + milliseconds(10'000);
    while (!condition()) {
      ASSERT_LT(std::chrono::steady_clock::now(), deadline);
      std::this_thread::yield();
    }
  }
  uint64_t server_rests() const { return monitor().rests(); }
  size_t server_held() const { return monitor().held_requests(); }
  size_t server_incoming() const { return monitor().incoming_bytes(); }

 private:
  const ServerMonitor& monitor() const { return dynamic_cast<const ServerMonitor&>(*engine_.monitor()); }
};

TEST_F(PressureTest, ThrowOnOverloadReturnsErrorsInsteadOfBackPressure) {
  Limits limits;
  limits.requests_in_flight = 4;
  restart(limits);
  Client client(port());
  client.startup(Version::v4, {{"THROW_ON_OVERLOAD", "1"}});
  std::string burst;
  for (int16_t stream = 0; stream < 10; ++stream) burst += Client::query_frame("later gate", stream);
  client.send_raw(burst);
  for (int16_t stream = 4; stream < 10; ++stream) {
    const Answer answer = client.read();
    EXPECT_EQ(answer.header.stream, stream);
    const auto error = error_of(answer);
    EXPECT_EQ(error.code, base::ErrorCode::overloaded);
    EXPECT_THAT(error.message, HasSubstr("cannot accept more requests"));
  }
  engine_.release("gate");
  for (int i = 0; i < 4; ++i) EXPECT_EQ(client.read().header.opcode, Opcode::result);
}

TEST_F(PressureTest, RequestsThatWaitedTooLongAreNotRun) {
  Limits limits;
  limits.queue_timeout = milliseconds(50);
  restart(limits);
  Client client(port());
  client.startup();
  std::string burst;
  for (int16_t stream = 0; stream < 8; ++stream) burst += Client::query_frame("block gate", stream);
  client.send_raw(burst + Client::query_frame("create late", 99));
  engine_.await_waiting(8);
  std::this_thread::sleep_for(milliseconds(100));
  engine_.release("gate");
  bool was_refused = false;
  for (int i = 0; i < 9; ++i) {
    const Answer answer = client.read();
    if (answer.header.stream != 99) continue;
    EXPECT_EQ(error_of(answer).code, base::ErrorCode::overloaded);
    EXPECT_EQ(error_of(answer).message, "Query timed out before it could start");
    was_refused = true;
  }
  EXPECT_TRUE(was_refused);
}

TEST_F(PressureTest, ASingleRequestDoesNotWaitForFloods) {
  // The minimum of a reactor's limit on requests. It applies because the reactor has not finished any yet.
  constexpr size_t least_limit = 256;
  Client first(port()), second(port()), small(port());  // the first two connections are on different reactors
  small.startup();
  std::string flood;
  for (int16_t stream = 0; stream < 2 * int16_t{least_limit}; ++stream)
    flood += Client::query_frame("later gate", stream);
  for (Client* client : {&first, &second}) {
    client->startup();
    client->send_raw(flood);
  }
  engine_.await_waiting(2 * least_limit);
  small.send_raw(Client::query_frame("void", 7));
  EXPECT_TRUE(small.has_answer(10'000));
  engine_.release("gate");
  EXPECT_EQ(small.read().header.stream, 7);
  for (size_t i = 0; i < 2 * least_limit; ++i) {
    ASSERT_EQ(first.read().header.opcode, Opcode::result);
    ASSERT_EQ(second.read().header.opcode, Opcode::result);
  }
}

TEST_F(PressureTest, TheRateLimitSlowsDownOrRefuses) {
  Limits limits;
  limits.requests_per_second = 1000;
  restart(limits);
  std::string burst;
  for (int16_t stream = 0; stream < 300; ++stream) burst += Client::query_frame("void", stream);
  Client patient(port());
  patient.startup();
  const auto began = std::chrono::steady_clock::now();
  patient.send_raw(burst);
  for (int i = 0; i < 300; ++i) ASSERT_EQ(patient.read().header.opcode, Opcode::result);
  EXPECT_GE(std::chrono::steady_clock::now() - began, milliseconds(190));

  Client impatient(port());
  impatient.startup(Version::v4, {{"THROW_ON_OVERLOAD", "1"}});
  impatient.send_raw(burst);
  int refused = 0;
  for (int i = 0; i < 300; ++i) {
    const Answer answer = impatient.read();
    if (answer.header.opcode != Opcode::error) continue;
    ++refused;
    EXPECT_THAT(error_of(answer).message, HasSubstr("breached global limit of 1000 requests/second"));
  }
  EXPECT_GT(refused, 0);

  // PREPARE counts as a request.
  std::string body;
  protocol::append_prepare(body, Version::v4, {"void", std::nullopt});
  burst.clear();
  for (int16_t stream = 0; stream < 300; ++stream) burst += Client::frame(Opcode::prepare, stream, body);
  impatient.send_raw(burst);
  int prepares_refused = 0;
  for (int i = 0; i < 300; ++i) prepares_refused += impatient.read().header.opcode == Opcode::error ? 1 : 0;
  EXPECT_GT(prepares_refused, 0);
}

// A QUERY message of `size` bytes.
std::string long_query(size_t size, Version version) {
  const std::string text = "void " + std::string(size, 'x');
  const std::string frame = Client::query_frame(text, 3, version);
  if (!protocol::has_segments(version)) return frame;
  std::string segments;
  protocol::append_segments(segments, frame, protocol::Compression::none);
  return segments;
}

TEST_F(PressureTest, IncompleteMessagesAreLimitedTogether) {
  Limits limits;
  limits.total_incoming_bytes = 1u << 20;
  limits.contended_message_timeout = milliseconds(60'000);  // because the test may be slow
  restart(limits);
  for (const Version version : {Version::v4, Version::v5}) {
    const std::string first = long_query(900'000, version), second = long_query(15'000'000, version);
    Client begins(port()), waits(port()), small(port());
    begins.startup(version);
    waits.startup(version);
    small.startup(version);
    begins.send_raw(std::string_view(first).substr(0, 600'000));
    ASSERT_EQ(small.query("void").header.opcode, Opcode::result);  // this gives the other reactor time
    await([&] { return server_incoming() > 0; });
    // The server stops reading from a client whose message would exceed the limit. The socket buffers cannot
    // hold the rest of the message, so part of it stays unsent.
    std::string_view rest = second;
    while (waits.is_writable(200)) {
      const size_t sent = waits.send_some(rest);
      ASSERT_GT(sent, 0u) << "the server has closed the connection";
      rest.remove_prefix(sent);
    }
    EXPECT_GT(rest.size(), 0u);
    EXPECT_EQ(small.query("void").header.opcode, Opcode::result);
    EXPECT_FALSE(waits.has_answer(0));
    begins.send_raw(std::string_view(first).substr(600'000));
    EXPECT_EQ(begins.read().header.stream, 3);
    waits.send_raw(rest);
    EXPECT_EQ(waits.read().header.stream, 3);
  }
}

// A client that claims a large length but has sent only a few bytes takes no memory from others.
TEST_F(PressureTest, ClaimedLengthsDoNotBlockOthers) {
  Limits limits;
  limits.total_incoming_bytes = 1u << 20;
  restart(limits);
  for (const Version version : {Version::v4, Version::v5}) {
    const std::string large = long_query(15'000'000, version), small = long_query(60'000, version);
    std::vector<std::unique_ptr<Client>> claim;
    for (int i = 0; i < 8; ++i) {
      claim.push_back(std::make_unique<Client>(port()));
      claim.back()->startup(version);
      claim.back()->send_raw(std::string_view(large).substr(0, 1000));
    }
    Client half(port());
    half.startup(version);
    half.send_raw(std::string_view(small).substr(0, 50'000));
    await([&] { return server_incoming() > 0; });
    EXPECT_LT(server_incoming(), 200'000u);
    half.send_raw(std::string_view(small).substr(50'000));
    EXPECT_EQ(half.read().header.stream, 3);
  }
}

TEST_F(PressureTest, IncompleteMessagesTimeOut) {
  Limits limits;
  limits.unsent_timeout = milliseconds(200);
  limits.rest_after = milliseconds(20);
  restart(limits);
  for (const Version version : {Version::v4, Version::v5}) {
    Client idle(port());
    idle.startup(version);
    for (const size_t sent : {size_t{5}, size_t{200'000}}) {
      Client half(port());
      half.startup(version);
      half.send_raw(long_query(1'000'000, version).substr(0, sent));
      ASSERT_TRUE(half.has_answer(10'000)) << sent;
      EXPECT_TRUE(half.is_closed());
    }
    // A client that sends a byte from time to time does not block others either.
    Client slow(port());
    slow.startup(version);
    const std::string message = long_query(100'000, version);
    size_t at = 0;
    while (!slow.has_answer(10) && at < message.size())
      slow.send_raw(std::string_view(message).substr(at++, 1));
    EXPECT_TRUE(slow.is_closed());
    EXPECT_LT(at, 5000u);
    EXPECT_EQ(idle.query("void").header.opcode, Opcode::result);
  }
}

TEST_F(PressureTest, ConnectionsOfOneAddressAreLimited) {
  Limits limits;
  limits.connections_per_address = 2;
  restart(limits);
  auto first = std::make_unique<Client>(port());
  Client second(port());
  first->startup();
  second.startup();
  EXPECT_TRUE(Client(port()).is_closed());
  first.reset();
  await_clients(1);
  // The server needs a moment to notice that the connection has closed.
  bool is_served = false;
  while (!is_served) {
    Client next(port());
    next.send_raw(Client::frame(Opcode::options, 1, ""));
    is_served = next.read().header.opcode == Opcode::supported;
  }
  EXPECT_EQ(second.query("void", 2).header.stream, 2);
}

TEST_F(PressureTest, IdleConnectionsAreClosedAfterTheIdleTimeout) {
  Limits limits;
  limits.idle_timeout = milliseconds(100);
  restart(limits);
  Client client(port());
  client.startup();
  EXPECT_EQ(client.query("void").header.opcode, Opcode::result);
  EXPECT_TRUE(client.is_closed());
}

TEST_F(PressureTest, ConnectionsThatReadNothingAreClosed) {
  Limits limits;
  limits.unsent_timeout = milliseconds(200);
  restart(limits);
  Client client(port(), 4096);
  client.startup();
  client.send_raw(Client::query_frame("rows 200 100000", 1));
  await_clients(0);
  Client other(port());
  other.startup();
  EXPECT_EQ(other.query("void", 2).header.stream, 2);
}

TEST_F(PressureTest, UnsentResponsesOfAllConnectionsAreLimited) {
  Limits limits;
  limits.total_unsent_bytes = 1u << 20;
  restart(limits);
  Client hoarder(port(), 4096);
  hoarder.startup();
  // Half of the responses fit into the socket's buffers. Then the server stops reading, and refuses the
  // requests that it has read.
  hoarder.send_raw(Client::query_frame("rows 200 100000", 1));
  Client other(port());
  other.startup();
  EXPECT_EQ(values_of(other.query("rows 1 10")).size(), 1u);
  for (int16_t stream = 2; stream < 20; ++stream)
    hoarder.send_raw(Client::query_frame("rows 1 1000000", stream));
  EXPECT_EQ(values_of(other.query("rows 1 10")).size(), 1u);
  for (int i = 1; i < 20; ++i) EXPECT_NE(hoarder.read().header.stream, -99);
}

// Results that wait for a busy reactor count against the limit of their connection.
TEST_F(PressureTest, ResultsThatWaitForTheReactorAreLimited) {
  Limits limits;
  limits.unsent_bytes_overload = 2'500'000;
  restart(limits, 1);
  Client hoarder(port()), other(port());  // on different reactors
  hoarder.startup();
  other.startup();
  // The only pool thread is blocked until the hoarder's reactor has read all of its requests and is blocked
  // itself.
  other.send_raw(Client::query_frame("block thread", 21));
  engine_.await_waiting(1);
  std::string burst;
  for (int16_t stream = 0; stream < 20; ++stream) burst += Client::query_frame("large 1000000", stream);
  hoarder.send_raw(burst + Client::query_frame("hold gate", 20));
  engine_.await_waiting(2);
  // The connections take turns. So when the thread runs the last of these requests, it has already tried all
  // requests of the hoarder.
  std::string turns;
  for (int16_t stream = 0; stream < 20; ++stream) turns += Client::query_frame("large 1", stream);
  other.send_raw(turns + Client::query_frame("block gate", 20));
  engine_.release("thread");
  engine_.await_waiting(3);
  EXPECT_EQ(engine_.large_runs, 20 + 3) << "no more results are produced than the limit allows";
  engine_.release("gate");
  for (int i = 0; i < 21; ++i) EXPECT_EQ(hoarder.read().header.opcode, Opcode::result);
}

// Sends `text` 30 times at once, and decodes the results for longer than queue_timeout.
void read_slowly(Client& client, const std::string& text, int& results, int& refused) {
  constexpr int16_t requests = 30;
  std::string burst;
  for (int16_t stream = 0; stream < requests; ++stream) burst += Client::query_frame(text, stream);
  client.send_raw(burst);
  for (int16_t i = 0; i < requests; ++i) {
    std::this_thread::sleep_for(milliseconds(25));  // decoding
    const Answer answer = client.read();
    if (answer.header.opcode == Opcode::result) {
      ++results;
    } else {
      EXPECT_EQ(error_of(answer).code, base::ErrorCode::overloaded);
      ++refused;
    }
  }
}

TEST_F(PressureTest, AClientThatDecodesSlowlyIsServed) {
  Limits limits;
  limits.queue_timeout = milliseconds(300);
  limits.unsent_bytes_overload = 3u << 20;
  restart(limits);
  for (const char* text : {"rows 10 100000", "large 1000000"}) {
    Client client(port(), 4096);
    client.startup();
    int results = 0, refused = 0;
    read_slowly(client, text, results, refused);
    EXPECT_EQ(results, 30) << text;
    EXPECT_EQ(refused, 0) << text;
  }
}

TEST_F(PressureTest, ThrowOnOverloadRefusesASlowClient) {
  Limits limits;
  limits.queue_timeout = milliseconds(100);
  limits.unsent_bytes_overload = 3u << 20;
  restart(limits, 1);
  Client client(port(), 4096);
  client.startup(Version::v4, {{"THROW_ON_OVERLOAD", "1"}});
  int results = 0, refused = 0;
  read_slowly(client, "large 1000000", results, refused);
  EXPECT_GT(results, 0);
  EXPECT_GT(refused, 0);
}

// Requests that wait for a slow client block neither the pool nor the reactor.
TEST_F(PressureTest, OthersDoNotWaitForASlowClient) {
  Limits limits;
  limits.unsent_bytes_overload = 2u << 20;
  limits.blocking_queue = 100;
  restart(limits, 1);
  Client slow(port(), 4096), other(port());
  slow.startup();
  other.startup();
  // Lets the server know how large results are. Otherwise, all threads of the pool may start before the first
  // result is there.
  ASSERT_EQ(slow.query("large 1000000").header.opcode, Opcode::result);
  std::string burst;
  for (int16_t stream = 0; stream < 80; ++stream) burst += Client::query_frame("large 1000000", stream);
  slow.send_raw(burst);
  await([&] {
    return server_held() >= 50;
  });  // the other results are in the socket buffers, or already produced
  burst.clear();
  for (int16_t stream = 0; stream < 80; ++stream) burst += Client::query_frame("large 1", stream);
  other.send_raw(burst);
  for (int i = 0; i < 80; ++i) ASSERT_EQ(other.read().header.opcode, Opcode::result);
  EXPECT_LT(engine_.large_runs, 1 + 80 + 40);
  for (int i = 0; i < 80; ++i) ASSERT_EQ(slow.read().header.opcode, Opcode::result);
}

TEST_F(PressureTest, AClientThatReadsSlowlyIsNotClosed) {
  Limits limits;
  limits.unsent_timeout = milliseconds(300);
  restart(limits);
  Client client(port(), 4096);
  client.startup();
  client.send_raw(Client::query_frame("rows 200 100000", 1));
  std::string taken;
  for (int i = 0; i < 30; ++i) {
    std::this_thread::sleep_for(milliseconds(50));
    taken += client.take_some(2048);
  }
  EXPECT_LT(taken.size(), 65536u);
  EXPECT_EQ(engine_.clients().size(), 1u);
}

// Requests that are held for slow clients are refused when the total limit is reached.
TEST_F(PressureTest, HeldRequestsAreRefusedWhenTheServerIsFull) {
  Limits limits;
  limits.unsent_bytes_overload = 2u << 20;
  limits.total_requests_in_flight = 60;
  restart(limits, 1);
  Client slow(port(), 4096), other(port());
  slow.startup();
  other.startup();
  ASSERT_EQ(slow.query("large 1000000").header.opcode, Opcode::result);  // see above
  std::string burst;
  for (int16_t stream = 0; stream < 60; ++stream) burst += Client::query_frame("large 1000000", stream);
  slow.send_raw(burst);
  await([&] { return server_held() >= 30; });
  Client filler(port());
  filler.startup();
  burst.clear();
  for (int16_t stream = 0; stream < 40; ++stream) burst += Client::query_frame("later gate", stream);
  filler.send_raw(burst);
  engine_.await_waiting(40);  // this returns only after the held requests have been refused
  EXPECT_EQ(other.query("void").header.opcode, Opcode::result);
  engine_.release("gate");
  int refused = 0;
  for (int i = 0; i < 60; ++i) {
    const Answer answer = slow.read();
    if (answer.header.opcode == Opcode::result) continue;
    ++refused;
    EXPECT_EQ(error_of(answer).code, base::ErrorCode::overloaded);
  }
  EXPECT_GT(refused, 0);
}

TEST_F(PressureTest, RestingConnectionsWakeUp) {
  Limits limits;
  limits.rest_after = milliseconds(20);
  restart(limits);
  Client client(port());
  client.startup();
  uint64_t rests = 0;
  const auto await_rest = [&] {
    await([&] { return server_rests() > rests; });
    rests = server_rests();
  };
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(values_of(client.query("rows 1 100000"))[0].size(), 100'000u);
    await_rest();
  }
  // The connection also rests when the client has stopped in the middle of a frame.
  const std::string request = Client::query_frame("rows 1 5", 7);
  client.send_raw(std::string_view(request).substr(0, 6));
  await_rest();
  client.send_raw(std::string_view(request).substr(6));
  EXPECT_EQ(client.read().header.stream, 7);
}

}  // namespace
}  // namespace sibyl::server
