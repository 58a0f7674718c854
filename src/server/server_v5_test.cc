// The differences of protocol v5.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/test_client.h"

namespace sibyl::server {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

const protocol::StringMap lz4 = {{"COMPRESSION", "lz4"}};

class ServerV5Test : public ServerTest, public testing::WithParamInterface<bool> {
 protected:
  void startup(Client& client) { client.startup(Version::v5, GetParam() ? lz4 : protocol::StringMap{}); }
  static std::string query_body(const protocol::Query& query) {
    std::string body;
    protocol::append_query(body, Version::v5, query);
    return body;
  }
};

INSTANTIATE_TEST_SUITE_P(PlainAndCompressed, ServerV5Test, testing::Bool(),
                         [](const auto& info) { return info.param ? "lz4" : "plain"; });

TEST_P(ServerV5Test, QueriesAreAnswered) {
  Client client(port());
  startup(client);
  const Answer answer = client.query("void", 77);
  EXPECT_EQ(answer.header.version, Version::v5);
  EXPECT_EQ(answer.header.stream, 77);
  EXPECT_TRUE(std::holds_alternative<protocol::VoidResult>(result_of(answer)));
  EXPECT_EQ(values_of(client.query("rows 2 300")).size(), 2u);
  EXPECT_EQ(error_of(client.query("fail because")).message, "because");
}

TEST_P(ServerV5Test, ManyFramesInOneSegment) {
  Client client(port());
  startup(client);
  std::string burst;
  for (int16_t stream = 1; stream < 3000; ++stream) burst += Client::query_frame("void", stream, Version::v5);
  client.send_frames(burst);
  std::set<int16_t> streams;
  for (int i = 1; i < 3000; ++i) streams.insert(client.read().header.stream);
  EXPECT_EQ(streams.size(), 2999u);
}

TEST_P(ServerV5Test, LimitsStopWithinASegment) {
  Limits limits;
  limits.requests_in_flight = 4;
  restart(limits);
  Client client(port());
  startup(client);
  std::string burst;
  for (int16_t stream = 1; stream <= 100; ++stream)
    burst += Client::query_frame(stream <= 4 ? "later gate" : "rows 1 1", stream, Version::v5);
  client.send_frames(burst);
  engine_.await_waiting(4);
  EXPECT_FALSE(client.has_answer(50));
  engine_.release("gate");
  std::set<int16_t> streams;
  for (int i = 0; i < 100; ++i) streams.insert(client.read().header.stream);
  EXPECT_EQ(streams.size(), 100u);
}

TEST_P(ServerV5Test, LargeFramesAndLargeResults) {
  Client client(port());
  startup(client);
  std::string large;
  for (uint32_t i = 0, x = 1; i < 3u << 20; ++i, x = x * 1664525 + 1013904223) large.push_back(char(x >> 24));
  protocol::Query query;
  query.text = "values";
  query.parameters.values = {types::ValueView::of(large), types::ValueView::null()};
  EXPECT_EQ(values_of(client.ask(Opcode::query, query_body(query))),
            (std::vector<std::string>{large, "null"}));
  EXPECT_EQ(values_of(client.query("rows 3 4000000"))[2].size(), 4'000'000u);
}

TEST_P(ServerV5Test, BytesMayArriveOneByOne) {
  Client client(port());
  startup(client);
  std::string bytes;
  const std::string frame = Client::query_frame("rows 1 5", 4, Version::v5);
  protocol::append_segments(bytes, frame + frame,
                            GetParam() ? protocol::Compression::lz4 : protocol::Compression::none);
  for (const char byte : bytes) client.send_raw(std::string_view(&byte, 1));
  EXPECT_EQ(values_of(client.read()), std::vector<std::string>{"vvvvv"});
  EXPECT_EQ(values_of(client.read()), std::vector<std::string>{"vvvvv"});
}

TEST_P(ServerV5Test, CorruptSegmentsCloseTheConnection) {
  for (const size_t at : {size_t{1}, size_t{20}}) {
    Client client(port());
    startup(client);
    std::string bytes;
    protocol::append_segments(bytes, Client::query_frame("void", 3, Version::v5),
                              GetParam() ? protocol::Compression::lz4 : protocol::Compression::none);
    bytes[at] = static_cast<char>(bytes[at] ^ 0x10);
    client.send_raw(bytes);
    const Answer answer = client.read();
    EXPECT_EQ(answer.header.stream, 0);
    const auto error = error_of(answer);
    EXPECT_EQ(error.code, base::ErrorCode::protocol);
    EXPECT_THAT(error.message, HasSubstr("unrecoverable CRC mismatch"));
    EXPECT_TRUE(client.is_closed());
  }
}

TEST_P(ServerV5Test, CutOffMessagesCloseTheConnection) {
  Client client(port());
  startup(client);
  // There are two messages in one segment. The second one claims a byte more than the segment holds.
  const std::string first = Client::query_frame("void", 3, Version::v5);
  std::string second = Client::query_frame("void", 4, Version::v5);
  second[8] = static_cast<char>(second[8] + 1);
  std::string sealed;
  protocol::append_segment(sealed, first + second, true,
                           GetParam() ? protocol::Compression::lz4 : protocol::Compression::none);
  client.send_raw(sealed);
  EXPECT_EQ(client.read().header.stream, 3);
  const Answer answer = client.read();
  EXPECT_EQ(answer.header.stream, 4);
  EXPECT_THAT(error_of(answer).message, HasSubstr("is cut off"));
  EXPECT_TRUE(client.is_closed());
}

TEST_P(ServerV5Test, RefusedMessagesDoNotCloseTheConnection) {
  Limits limits;
  limits.frame_body_bytes = 300'000;
  restart(limits);
  Client client(port());
  startup(client);
  // These frames are invalid: too long, with an unknown opcode, or with the wrong version.
  client.send_frames(Client::query_frame(std::string(400'000, 'x'), 5, Version::v5));
  const Answer answer = client.read();
  EXPECT_EQ(answer.header.stream, 5);
  EXPECT_THAT(error_of(answer).message, StartsWith("Request is too big"));
  std::string unknown = Client::frame(Opcode::options, 6, "", Version::v5);
  unknown[4] = '\x33';
  client.send_frames(unknown);
  EXPECT_EQ(error_of(client.read()).message, "Unknown opcode 51");
  client.send_frames(Client::query_frame("void", 7, Version::v4));
  EXPECT_EQ(error_of(client.read()).message,
            "Invalid message version. Got 4/v4 but previous messages on this connection had version 5/v5");
  EXPECT_EQ(client.query("void", 8).header.stream, 8);
}

TEST_P(ServerV5Test, UnknownVersionsInSegmentsCloseTheConnection) {
  Client client(port());
  startup(client);
  std::string frame = Client::query_frame("void", 9, Version::v5);
  frame[0] = 66;
  client.send_frames(frame);
  const Answer answer = client.read();
  EXPECT_EQ(answer.header.stream, 9);
  EXPECT_THAT(error_of(answer).message, HasSubstr("unsupported protocol version (66)"));
  EXPECT_TRUE(client.is_closed());
}

TEST_P(ServerV5Test, KeyspaceOfOneRequest) {
  Client client(port());
  startup(client);
  protocol::Query query;
  query.text = "keyspace";
  query.parameters.keyspace = "shop";
  EXPECT_EQ(values_of(client.ask(Opcode::query, query_body(query))), std::vector<std::string>{"shop"});
  query.parameters.keyspace.reset();
  EXPECT_EQ(values_of(client.ask(Opcode::query, query_body(query))), std::vector<std::string>{""});
  query.parameters.keyspace = "nowhere";
  EXPECT_EQ(error_of(client.ask(Opcode::query, query_body(query))).message,
            "Keyspace 'nowhere' does not exist");
  std::string body;
  protocol::append_prepare(body, Version::v5, {"keyspace", "shop"});
  const auto prepared = std::get<protocol::PreparedResult>(result_of(client.ask(Opcode::prepare, body)));
  protocol::Execute execute;
  execute.id = prepared.id;
  body.clear();
  protocol::append_execute(body, Version::v5, execute);
  EXPECT_EQ(values_of(client.ask(Opcode::execute, body)), std::vector<std::string>{"shop"});
}

TEST_P(ServerV5Test, ChangedMetadataIsSent) {
  Client client(port());
  startup(client);
  std::string body;
  protocol::append_prepare(body, Version::v5, {"values", std::nullopt});
  const auto prepared = std::get<protocol::PreparedResult>(result_of(client.ask(Opcode::prepare, body)));
  EXPECT_EQ(prepared.result_metadata_id.size(), 16u);
  protocol::Execute execute;
  execute.id = prepared.id;
  execute.parameters.values = {types::ValueView::of("x"), types::ValueView::of("y")};
  execute.parameters.skip_metadata = true;
  const auto run = [&] {
    body.clear();
    protocol::append_execute(body, Version::v5, execute);
    return std::get<protocol::RowsResult>(result_of(client.ask(Opcode::execute, body)));
  };
  execute.result_metadata_id = prepared.result_metadata_id;
  auto rows = run();
  EXPECT_TRUE(rows.columns.empty());
  EXPECT_FALSE(rows.new_metadata_id);
  execute.result_metadata_id = "something older.";
  rows = run();
  EXPECT_EQ(rows.columns.size(), 1u);
  EXPECT_EQ(rows.new_metadata_id, prepared.result_metadata_id);
}

TEST_P(ServerV5Test, EventsTravelInSegments) {
  Client client(port());
  startup(client);
  std::string body;
  protocol::append_register(body, {"SCHEMA_CHANGE"});
  EXPECT_EQ(client.ask(Opcode::register_, body).header.opcode, Opcode::ready);
  Client other(port());
  other.startup();
  other.query("create t");
  const Answer event = client.read();
  EXPECT_EQ(event.header.stream, -1);
  EXPECT_EQ(event.header.opcode, Opcode::event);
}

TEST_F(ServerTest, V5StartupIsChecked) {
  Client client(port());
  client.send_raw(
      Client::frame(Opcode::startup, 0, Client::startup_body({{"COMPRESSION", "snappy"}}), Version::v5));
  EXPECT_EQ(error_of(client.read()).message, "Snappy compression is not supported in protocol V5");
  // Segments are not used yet, so the client may retry.
  client.startup(Version::v5, lz4);
  EXPECT_EQ(client.query("void", 5).header.stream, 5);
}

}  // namespace
}  // namespace sibyl::server
