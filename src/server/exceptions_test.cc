// Tests that an exception fails only its own request. The server, the connection and all counts stay intact.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/monitoring/monitor.h"
#include "server/test_client.h"

namespace sibyl::server {
namespace {

class ExceptionsTest : public ServerTest {
 protected:
  // No request may be left in flight: the server would wait for it forever when it stops.
  void expect_no_calls() {
    const auto& monitor = dynamic_cast<const ServerMonitor&>(*engine_.monitor());
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (monitor.requests_in_flight() != 0 && std::chrono::steady_clock::now() < deadline)
      std::this_thread::yield();
    EXPECT_EQ(monitor.requests_in_flight(), 0u);
  }
};

TEST_F(ExceptionsTest, AnExceptionFailsOneRequest) {
  for (const Version version : {Version::v4, Version::v5}) {
    Client client(port());
    client.startup(version);
    for (const std::string command : {"throw ", "throw_blocking "}) {
      const auto message = [&](const char* where) { return error_of(client.query(command + where)).message; };
      EXPECT_EQ(message("plan").substr(0, 29), "Unexpected exception: plannin") << command;
      EXPECT_EQ(message("run").substr(0, 29), "Unexpected exception: running") << command;
      EXPECT_EQ(message("no_memory").substr(0, 13), "Out of memory") << command;
      EXPECT_EQ(message("strange").substr(0, 29), "Unexpected exception: unknown") << command;
      EXPECT_THAT(message("elsewhere"), testing::StartsWith("The request was abandoned")) << command;
      EXPECT_EQ(client.query(command + "late").header.opcode, Opcode::result) << "it had already completed";
      EXPECT_EQ(error_of(client.query(command + "run")).code, base::ErrorCode::server);
    }
    EXPECT_EQ(client.query("void").header.opcode, Opcode::result);
  }
  expect_no_calls();
}

TEST_F(ExceptionsTest, AnExceptionFailsOnePreparedStatementOrLongText) {
  Client client(port());
  client.startup();
  std::string body;
  protocol::append_prepare(body, Version::v4, {"throw plan", std::nullopt});
  EXPECT_EQ(error_of(client.ask(Opcode::prepare, body)).code, base::ErrorCode::server);
  const std::string spaces(100'000, ' ');  // long enough to be decoded on a pool thread
  EXPECT_EQ(error_of(client.query("throw" + spaces + " plan")).code, base::ErrorCode::server);
  EXPECT_EQ(client.query("void").header.opcode, Opcode::result);
  expect_no_calls();
}

TEST_F(ExceptionsTest, ManyConcurrentExceptionsAreEachAnsweredOnce) {
  Client client(port());
  client.startup();
  std::string burst;
  constexpr int16_t requests = 600;
  const char* kinds[] = {"throw run",       "void",       "throw_blocking run",
                         "throw elsewhere", "throw late", "throw plan"};
  for (int16_t stream = 0; stream < requests; ++stream)
    burst += Client::query_frame(kinds[stream % std::size(kinds)], stream);
  client.send_raw(burst);
  std::set<int16_t> answered;
  for (int16_t i = 0; i < requests; ++i) EXPECT_TRUE(answered.insert(client.read().header.stream).second);
  EXPECT_EQ(answered.size(), static_cast<size_t>(requests));
  EXPECT_FALSE(client.has_answer(20));
  expect_no_calls();
}

// A failure in the bookkeeping of a request does not affect its response.
TEST_F(ExceptionsTest, AFailedTraceDoesNotFailTheRequest) {
  engine_.throws_at_traces = true;
  Client client(port());
  client.startup();
  protocol::Query query;
  query.text = "void";
  std::string body;
  protocol::append_query(body, Version::v4, query);
  client.send_raw(Client::frame(Opcode::query, 5, body, Version::v4, protocol::flag::tracing));
  const Answer answer = client.read();
  EXPECT_EQ(answer.header.opcode, Opcode::result);
  EXPECT_EQ(answer.header.stream, 5);
  expect_no_calls();
}

}  // namespace
}  // namespace sibyl::server
