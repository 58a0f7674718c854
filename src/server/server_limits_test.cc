#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/test_client.h"

namespace sibyl::server {
namespace {

using testing::HasSubstr;

TEST_F(ServerTest, StartupOptionsAreLimited) {
  protocol::StringMap many, large = {{"APPLICATION_NAME", std::string(5000, 'x')}}, usual;
  for (int i = 0; i < 4000; ++i) many.emplace_back("option" + std::to_string(i), "");
  for (int i = 0; i < 20; ++i) usual.emplace_back("option" + std::to_string(i), std::string(100, 'x'));
  for (const Version version : {Version::v4, Version::v5}) {
    Client client(port());
    for (const auto& options : {many, large}) {
      client.send_raw(Client::frame(Opcode::startup, 0, Client::startup_body(options), version));
      const auto error = error_of(client.read());
      EXPECT_EQ(error.code, base::ErrorCode::protocol);
      EXPECT_THAT(error.message, testing::HasSubstr("Too many options in STARTUP"));
    }
    ASSERT_EQ(engine_.clients().size(), 1u);
    EXPECT_TRUE(engine_.clients()[0].options.empty());
    client.startup(version, usual);
    EXPECT_EQ(engine_.clients()[0].options.size(), 21u);
  }
}

// Finding a marker's value must not search all names.
TEST_F(ServerTest, ManyNamedValuesAreFoundQuickly) {
  constexpr size_t count = 65'000;
  std::vector<std::string> names;
  for (size_t i = 0; i < count; ++i) names.push_back("m" + std::to_string(count - 1 - i));
  protocol::Query query;
  const std::string text = "markers " + std::to_string(count);
  query.text = text;
  for (const std::string& name : names) {
    query.parameters.names.push_back(name);
    query.parameters.values.push_back(types::ValueView::of(name));
  }
  std::string body;
  protocol::append_query(body, Version::v4, query);
  Client client(port());
  client.startup();
  client.send_raw(Client::frame(Opcode::query, 7, body));
  ASSERT_TRUE(client.has_answer(5000));
  const std::vector<std::string> values = values_of(client.read());
  ASSERT_EQ(values.size(), count);
  for (size_t i = 0; i < count; ++i) ASSERT_EQ(values[i], "m" + std::to_string(i));
}

// While a long text is planned, other connections of the same reactor are served.
TEST_F(ServerTest, LongTextsArePlannedElsewhere) {
  for (const Version version : {Version::v4, Version::v5}) {
    for (const Opcode opcode : {Opcode::query, Opcode::prepare, Opcode::batch}) {
      const std::string gate =
          std::to_string(static_cast<int>(version)) + std::to_string(static_cast<int>(opcode));
      const std::string text = "plan " + gate + " " + std::string(100'000, 'x');
      std::string body;
      if (opcode == Opcode::query) {
        protocol::Query query;
        query.text = text;
        protocol::append_query(body, version, query);
      } else if (opcode == Opcode::prepare) {
        protocol::append_prepare(body, version, {text, std::nullopt});
      } else {
        protocol::Batch batch;
        batch.statements.push_back({});
        batch.statements[0].text_or_id = text;
        protocol::append_batch(body, version, batch);
      }
      Client asking(port());
      asking.startup(version);
      asking.send_frames(Client::frame(opcode, 5, body, version));
      for (int i = 0; i < 2; ++i) {  // one of the two has the same reactor
        Client other(port());
        other.send_raw(Client::frame(Opcode::options, 1, ""));
        EXPECT_TRUE(other.has_answer(5000)) << gate;
      }
      EXPECT_FALSE(asking.has_answer(0));
      engine_.release(gate);
      const Answer answer = asking.read();
      EXPECT_EQ(answer.header.opcode, Opcode::result);
      EXPECT_EQ(answer.header.stream, 5);
    }
  }
}

// A read that turns out to take long is restarted on a pool thread, so that the reactor can serve others.
TEST_F(ServerTest, ALongReadLeavesItsReactor) {
  Client client(port());
  client.startup();
  EXPECT_EQ(client.query("last").header.opcode, Opcode::result);
  EXPECT_EQ(engine_.lasting_runs, 2);
}

TEST_F(ServerTest, TooLongFramesAreRefusedAndSkipped) {
  Limits limits;
  limits.frame_body_bytes = 1000;
  restart(limits);
  Client client(port());
  client.startup();
  client.send_raw(Client::frame(Opcode::query, 4, std::string(100'000, 'x')) +
                  Client::query_frame("void", 5));
  const Answer answer = client.read();
  EXPECT_EQ(answer.header.stream, 4);
  EXPECT_EQ(error_of(answer).message,
            "Request is too big: length 100009 exceeds maximum allowed length 1009.");
  EXPECT_EQ(client.read().header.stream, 5);
}

TEST_F(ServerTest, AbsurdLengthsCloseTheConnection) {
  for (const uint32_t claim : {256u << 20, 0x7fffffffu, 0xffffffffu}) {
    Client client(port());
    client.startup();
    std::string frame = Client::frame(Opcode::query, 4, "");
    protocol::store_int(frame.data() + 5, claim);
    client.send_raw(frame);
    const Answer answer = client.read();
    EXPECT_EQ(answer.header.stream, 4);
    EXPECT_EQ(error_of(answer).code, base::ErrorCode::invalid);
    EXPECT_TRUE(client.is_closed());
  }
}

TEST_F(ServerTest, AFullQueueAnswersOverloaded) {
  Limits limits;
  limits.blocking_queue = 4;
  restart(limits);
  Client client(port());
  client.startup();
  std::string burst;
  for (int16_t i = 0; i < 8; ++i) burst += Client::query_frame("block gate", i);
  client.send_raw(burst);
  // The first requests may be refused if the threads are slow to start. So only a lower bound is checked.
  std::string more;
  for (int16_t i = 8; i < 40; ++i) more += Client::query_frame("block gate", i);
  client.send_raw(more);
  const auto error = error_of(client.read());
  EXPECT_EQ(error.code, base::ErrorCode::overloaded);
  engine_.release("gate");
  for (int i = 0; i < 39; ++i) EXPECT_NE(client.read().header.stream, -99);
  EXPECT_EQ(client.query("void", 50).header.stream, 50);
}

TEST_F(ServerTest, ReadingStopsAtTheLimitOfRequestsInFlight) {
  Limits limits;
  limits.requests_in_flight = 10;
  restart(limits);
  Client client(port());
  client.startup();
  std::string burst;
  for (int16_t i = 0; i < 50; ++i) burst += Client::query_frame("later gate", i);
  client.send_raw(burst);
  engine_.await_waiting(10);
  EXPECT_FALSE(client.has_answer(50));
  engine_.release("gate");
  std::set<int16_t> streams;
  for (int i = 0; i < 50; ++i) streams.insert(client.read().header.stream);
  EXPECT_EQ(streams.size(), 50u);
}

TEST_F(ServerTest, ReadingStopsAtTheTotalLimit) {
  Limits limits;
  limits.total_bytes_in_flight = 100;
  restart(limits);
  Client first(port()), second(port());
  first.startup();
  second.startup();
  std::string burst;
  for (int16_t i = 0; i < 10; ++i) burst += Client::query_frame("later gate", i);
  first.send_raw(burst);
  engine_.await_waiting(4);
  second.send_raw(Client::query_frame("void", 3));
  EXPECT_FALSE(second.has_answer(50));
  engine_.release("gate");
  EXPECT_EQ(second.read().header.stream, 3);
  for (int i = 0; i < 10; ++i) EXPECT_NE(first.read().header.stream, -99);
}

TEST_F(ServerTest, SlowReadersAreNotReadFrom) {
  Limits limits;
  limits.unsent_bytes = 64u << 10;
  restart(limits);
  Client client(port(), 4096);
  client.startup();
  // Each request asks for 100 kB, and the client reads nothing. Soon the server reads no more requests.
  const std::string request = Client::query_frame("rows 1 100000", 1);
  std::string many;
  for (int i = 0; i < 1000; ++i) many += request;
  size_t sent = 0;
  while (client.is_writable(300)) {
    const size_t now = client.send_some(std::string_view(many).substr(sent % many.size()));
    if (now == 0) break;
    sent += now;
    ASSERT_LT(sent, 64u << 20);
  }
  Client other(port());
  other.startup();
  EXPECT_EQ(other.query("void", 2).header.stream, 2);
  for (size_t i = 0; i < 100; ++i) ASSERT_EQ(client.read().body.size(), 100'032u) << i;
}

TEST_F(ServerTest, ConnectionsBeyondTheLimitAreClosed) {
  Limits limits;
  limits.connections = 2;
  restart(limits);
  auto first = std::make_unique<Client>(port());
  Client second(port());
  first->startup();
  second.startup();
  Client third(port());
  EXPECT_TRUE(third.is_closed());
  EXPECT_EQ(second.query("void", 2).header.stream, 2);
}

// The oldest connection without STARTUP is closed for a new one, so that such connections cannot keep others
// out.
TEST_F(ServerTest, UnauthenticatedConnectionsMakeRoom) {
  constexpr size_t rounds = 20;
  Limits limits;
  limits.connections = rounds + 4;
  restart(limits);
  std::vector<std::unique_ptr<Client>> unauthenticated_connections,
      known;  // kept open, because the server notices closed connections late
  for (size_t i = 0; i < rounds; ++i) {
    unauthenticated_connections.push_back(std::make_unique<Client>(port()));
    known.push_back(std::make_unique<Client>(port()));
    known.back()->startup();
    EXPECT_EQ(known.back()->query("void", 2).header.stream, 2) << i;
  }
  EXPECT_TRUE(unauthenticated_connections.front()->is_closed());
  EXPECT_EQ(known.front()->query("void", 3).header.stream, 3);
}

TEST_F(ServerTest, SilentConnectionsAreClosed) {
  Limits limits;
  limits.handshake_timeout = std::chrono::milliseconds(1);
  restart(limits);
  Client client(port());
  EXPECT_TRUE(client.is_closed());
}

}  // namespace
}  // namespace sibyl::server
