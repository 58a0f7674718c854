#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <future>

#include "server/test_client.h"

namespace sibyl::server {
namespace {

using testing::HasSubstr;

TEST_F(ServerTest, OptionsThenStartupThenQuery) {
  Client client(port());
  const Answer supported = client.ask(Opcode::options, "", 7);
  EXPECT_EQ(supported.header.stream, 7);
  const auto options = protocol::decode_supported(supported.body);
  ASSERT_TRUE(options);
  EXPECT_EQ((*options)[0].second, (std::vector<std::string>{"3/v3", "4/v4", "5/v5"}));
  client.startup();
  EXPECT_TRUE(std::holds_alternative<protocol::VoidResult>(result_of(client.query("void"))));
  EXPECT_EQ(values_of(client.query("rows 2 3")), (std::vector<std::string>{"vvv", "vvv"}));
  EXPECT_EQ(engine_.port(), port());
}

TEST_F(ServerTest, RequestsBeforeStartupAreProtocolErrors) {
  Client client(port());
  const auto error = error_of(client.query("void", 9));
  EXPECT_EQ(error.code, base::ErrorCode::protocol);
  EXPECT_EQ(error.message, "Unexpected message QUERY, expecting STARTUP or OPTIONS");
  client.startup();
  EXPECT_EQ(error_of(client.ask(Opcode::startup, Client::startup_body())).message,
            "Unexpected message STARTUP, the connection is already initialized");
}

TEST_F(ServerTest, StartupIsChecked) {
  Client client(port());
  EXPECT_EQ(error_of(client.ask(Opcode::startup, std::string(2, '\0'))).message,
            "Missing value CQL_VERSION in STARTUP message");
  EXPECT_EQ(error_of(client.ask(Opcode::startup, Client::startup_body({{"COMPRESSION", "zstd"}}))).message,
            "Unknown compression algorithm: zstd");
  std::string body;
  protocol::append_startup(body, {{"CQL_VERSION", "2.0.0"}});
  EXPECT_THAT(error_of(client.ask(Opcode::startup, body)).message,
              HasSubstr("CQL version 2.0.0 is not supported"));
  client.startup();
}

TEST_F(ServerTest, UnsupportedVersionsAreRefusedOnTheirStream) {
  for (const int version : {6, 66}) {
    Client client(port());
    std::string frame = Client::frame(Opcode::options, 9, "");
    frame[0] = static_cast<char>(version);
    client.send_raw(frame);
    const Answer answer = client.read();
    EXPECT_EQ(answer.header.version, Version::v5);
    EXPECT_EQ(answer.header.stream, 9);
    const auto error = error_of(answer);
    EXPECT_EQ(error.code, base::ErrorCode::protocol);
    EXPECT_EQ(error.message, "Invalid or unsupported protocol version (" + std::to_string(version) +
                                 "); supported versions are (3/v3, 4/v4, 5/v5)");
    EXPECT_TRUE(client.is_closed());
  }
  Client old(port());
  old.send_raw(std::string("\x02\x00\x09\x01\x00\x00\x00\x00", 8));
  const std::string answer = old.read_raw(96);
  EXPECT_EQ(answer.substr(0, 4), std::string("\x82\x00\x09\x00", 4));
}

// The client's kernel holds the second part back until the first is acknowledged (Nagle's algorithm), which
// takes 40 ms or more unless the server acknowledges at once.
TEST_F(ServerTest, AMessageInTwoPartsIsAcknowledgedAtOnce) {
  Client client(port());
  client.startup();
  std::vector<std::chrono::steady_clock::duration> times;
  for (int16_t i = 0; i < 41; ++i) {
    const std::string frame = Client::query_frame("void", i);
    const auto begin = std::chrono::steady_clock::now();
    client.send_raw(frame.substr(0, 12));
    client.send_raw(frame.substr(12));
    ASSERT_EQ(client.read().header.stream, i);
    times.push_back(std::chrono::steady_clock::now() - begin);
  }
  std::nth_element(times.begin(), times.begin() + 20, times.end());
  EXPECT_LT(times[20], std::chrono::milliseconds(20));
}

TEST_F(ServerTest, VersionsDoNotMixOnAConnection) {
  Client client(port());
  client.startup(Version::v3);
  client.send_raw(Client::query_frame("void", 3, Version::v3));
  EXPECT_EQ(client.read().header.version, Version::v3);
  client.send_raw(Client::query_frame("void", 3, Version::v4));
  EXPECT_EQ(error_of(client.read()).message,
            "Invalid message version. Got 4/v4 but previous messages on this connection had version 3/v3");
}

TEST_F(ServerTest, PipelinedRequestsAreAnsweredAsTheyFinish) {
  Client client(port());
  client.startup();
  std::string burst = Client::query_frame("later slow", 1);
  for (int16_t stream = 2; stream < 1000; ++stream) burst += Client::query_frame("void", stream);
  client.send_raw(burst);
  std::set<int16_t> streams;
  for (int i = 2; i < 1000; ++i) streams.insert(client.read().header.stream);
  EXPECT_EQ(streams.size(), 998u);
  EXPECT_FALSE(streams.contains(1));
  engine_.release("slow");
  EXPECT_EQ(client.read().header.stream, 1);
}

TEST_F(ServerTest, FramesMayArriveOneByteAtATime) {
  Client client(port());
  std::string bytes = Client::frame(Opcode::startup, 0, Client::startup_body());
  bytes += Client::query_frame("rows 1 5", 4);
  for (const char byte : bytes) client.send_raw(std::string_view(&byte, 1));
  EXPECT_EQ(client.read().header.opcode, Opcode::ready);
  EXPECT_EQ(values_of(client.read()), std::vector<std::string>{"vvvvv"});
}

TEST_F(ServerTest, LargeFramesAndLargeResults) {
  Client client(port());
  client.startup();
  protocol::Query query;
  const std::string large(5u << 20, 'x');
  query.text = "values";
  query.parameters.values = {types::ValueView::of(large), types::ValueView::null()};
  std::string body;
  protocol::append_query(body, Version::v4, query);
  EXPECT_EQ(values_of(client.ask(Opcode::query, body)), (std::vector<std::string>{large, "null"}));
  EXPECT_EQ(values_of(client.query("rows 3 4000000"))[2].size(), 4'000'000u);
}

TEST_F(ServerTest, ValuesByPositionAndByName) {
  Client client(port());
  client.startup();
  protocol::Query query;
  query.text = "values";
  query.parameters.values = {types::ValueView::of("1"), types::ValueView::unset()};
  std::string body;
  protocol::append_query(body, Version::v4, query);
  EXPECT_EQ(values_of(client.ask(Opcode::query, body)), (std::vector<std::string>{"1", "unset"}));
  query.parameters.names = {"b", "a"};
  body.clear();
  protocol::append_query(body, Version::v4, query);
  EXPECT_EQ(values_of(client.ask(Opcode::query, body)), (std::vector<std::string>{"unset", "1"}));
  query.parameters.names = {"b", "c"};
  body.clear();
  protocol::append_query(body, Version::v4, query);
  EXPECT_EQ(error_of(client.ask(Opcode::query, body)).message, "Invalid amount of bind variables");
}

TEST_F(ServerTest, TracesAreShownAndNamedInTheAnswer) {
  Client client(port());
  client.startup();
  const auto ask = [&](Opcode opcode, const std::string& body) {
    client.send_raw(Client::frame(opcode, 5, body, Version::v4, protocol::flag::tracing));
    const Answer answer = client.read();
    EXPECT_EQ(answer.header.flags, protocol::flag::tracing);
    return answer;
  };
  protocol::Query query;
  query.text = "values";
  query.parameters.values = {types::ValueView::of("1"), types::ValueView::unset()};
  query.parameters.page_size = 50;
  std::string body;
  protocol::append_query(body, Version::v4, query);
  const Answer traced = ask(Opcode::query, body);
  ASSERT_EQ(engine_.shown().size(), 1u);
  const engine::RequestTrace shown = engine_.shown()[0];
  EXPECT_EQ(traced.body.substr(0, 16), shown.id());
  EXPECT_EQ(shown.start().request, "Execute CQL3 query");
  EXPECT_EQ(shown.start().client, "127.0.0.1");
  EXPECT_EQ(shown.start().parameters,
            (std::map<std::string, std::string>{{"consistency_level", "ONE"},
                                                {"page_size", "50"},
                                                {"query", "values"},
                                                {"serial_consistency_level", "SERIAL"}}));
  ASSERT_EQ(shown.steps().size(), 1u);
  EXPECT_EQ(shown.steps()[0].activity, "planned");
  EXPECT_THAT(shown.steps()[0].thread, HasSubstr("sibyl-react"));

  body.clear();
  protocol::append_prepare(body, Version::v4, {"values", std::nullopt});
  const Answer prepared = ask(Opcode::prepare, body);
  EXPECT_EQ(engine_.shown()[1].start().request, "Preparing CQL3 query");
  protocol::Execute execute;
  execute.id = "id-values";
  execute.parameters.values = {types::ValueView::of("\x01"), types::ValueView::unset()};
  body.clear();
  protocol::append_execute(body, Version::v4, execute);
  ask(Opcode::execute, body);
  const auto parameters = engine_.shown()[2].start().parameters;
  EXPECT_EQ(parameters.at("bound_var_0_a"), "0x01");
  EXPECT_EQ(parameters.at("bound_var_1_b"), "<unset>");

  // Long values are truncated, and very large ones are not printed.
  const std::string long_value(600, 'x'), longer(5000, 'x');
  execute.parameters.values = {types::ValueView::of(long_value), types::ValueView::of(longer)};
  body.clear();
  protocol::append_execute(body, Version::v4, execute);
  ask(Opcode::execute, body);
  const auto cut = engine_.shown()[3].start().parameters;
  EXPECT_EQ(cut.at("bound_var_0_a").size(), 1004u);
  EXPECT_EQ(cut.at("bound_var_1_b"), "<5000 bytes>");

  // Error responses have the trace id too. Requests that cannot be traced are answered without one.
  query.text = "fail because";
  query.parameters.values.clear();
  body.clear();
  protocol::append_query(body, Version::v4, query);
  const Answer failed = ask(Opcode::query, body);
  EXPECT_EQ(failed.header.opcode, Opcode::error);
  EXPECT_EQ(failed.body.substr(0, 16), engine_.shown()[4].id());
  client.send_raw(Client::frame(Opcode::options, 5, "", Version::v4, protocol::flag::tracing));
  EXPECT_EQ(client.read().header.flags, 0);
  client.query("void");
  EXPECT_EQ(engine_.shown().size(), 5u);
}

TEST_F(ServerTest, PrepareExecuteAndUnprepared) {
  Client client(port());
  client.startup();
  std::string body;
  protocol::append_prepare(body, Version::v4, {"values", std::nullopt});
  const auto prepared = std::get<protocol::PreparedResult>(result_of(client.ask(Opcode::prepare, body)));
  EXPECT_EQ(prepared.markers.size(), 2u);
  EXPECT_EQ(prepared.partition_key_markers, std::vector<uint16_t>{0});
  protocol::Execute execute;
  execute.id = prepared.id;
  execute.parameters.values = {types::ValueView::of("x"), types::ValueView::of("y")};
  execute.parameters.page_size = 10;
  execute.parameters.skip_metadata = true;
  body.clear();
  protocol::append_execute(body, Version::v4, execute);
  const auto rows = std::get<protocol::RowsResult>(result_of(client.ask(Opcode::execute, body)));
  EXPECT_TRUE(rows.columns.empty());
  EXPECT_EQ(rows.column_count, 1u);
  EXPECT_EQ(rows.paging_state, "page 10");
  execute.parameters.values.pop_back();
  body.clear();
  protocol::append_execute(body, Version::v4, execute);
  EXPECT_EQ(error_of(client.ask(Opcode::execute, body)).message,
            "there were 2 markers(?) in CQL but 1 bound variables");
  execute.id = "unknown";
  body.clear();
  protocol::append_execute(body, Version::v4, execute);
  const auto error = error_of(client.ask(Opcode::execute, body));
  EXPECT_EQ(error.code, base::ErrorCode::unprepared);
  EXPECT_EQ(error.statement_id, "unknown");
  execute.id = prepared.id;
  execute.parameters.page_size = 0;
  body.clear();
  protocol::append_execute(body, Version::v4, execute);
  EXPECT_EQ(error_of(client.ask(Opcode::execute, body)).message, "The page size cannot be 0");
}

TEST_F(ServerTest, BatchesMixTextsAndIds) {
  Client client(port());
  client.startup();
  std::string body;
  protocol::append_prepare(body, Version::v4, {"values", std::nullopt});
  client.ask(Opcode::prepare, body);
  protocol::Batch batch;
  batch.values = {types::ValueView::of("1"), types::ValueView::null()};
  batch.statements = {{false, "void", 0, 0}, {true, "id-values", 0, 2}};
  body.clear();
  protocol::append_batch(body, Version::v4, batch);
  EXPECT_EQ(values_of(client.ask(Opcode::batch, body)), (std::vector<std::string>{"void/0", "values/2"}));
  batch.statements[1].value_count = 1;
  body.clear();
  protocol::append_batch(body, Version::v4, batch);
  EXPECT_EQ(error_of(client.ask(Opcode::batch, body)).message,
            "There were 2 markers(?) in CQL but 1 bound variables");
  batch.statements[1] = {true, "nothing", 0, 0};
  body.clear();
  protocol::append_batch(body, Version::v4, batch);
  EXPECT_EQ(error_of(client.ask(Opcode::batch, body)).code, base::ErrorCode::unprepared);
}

TEST_F(ServerTest, UseSetsTheKeyspaceOfTheConnection) {
  Client client(port());
  client.startup();
  EXPECT_EQ(std::get<protocol::SetKeyspaceResult>(result_of(client.query("use shop"))).keyspace, "shop");
}

TEST_F(ServerTest, ClientsAreListed) {
  Client client(port());
  client.startup(Version::v4, {{"DRIVER_NAME", "tester"}});
  client.query("use shop");
  std::string body;
  protocol::append_prepare(body, Version::v4, {"void", std::nullopt});
  client.ask(Opcode::prepare, body);
  const auto clients = engine_.clients();
  ASSERT_EQ(clients.size(), 1u);
  EXPECT_EQ(clients[0].address, "127.0.0.1");
  EXPECT_EQ(clients[0].driver_name, "tester");
  EXPECT_EQ(clients[0].keyspace, "shop");
  EXPECT_EQ(clients[0].request_count, 2u);
  EXPECT_EQ(clients[0].protocol_version, 4);
}

TEST_F(ServerTest, WarningsComeBeforeTheResult) {
  Client client(port());
  client.startup();
  const Answer answer = client.query("warn careful now");
  EXPECT_EQ(answer.header.flags, protocol::flag::warning);
  protocol::BytesView body = answer.body;
  protocol::Envelope envelope;
  ASSERT_TRUE(protocol::take_envelope(answer.header, protocol::Direction::response, body, envelope));
  EXPECT_EQ(envelope.warnings, std::vector<std::string>{"careful now"});
  Client old(port());
  old.startup(Version::v3);
  old.send_raw(Client::query_frame("warn careful now", 1, Version::v3));
  EXPECT_EQ(old.read().header.flags, 0);
}

TEST_F(ServerTest, SchemaChangesReachRegisteredClients) {
  Client watcher(port()), other(port()), maker(port());
  watcher.startup();
  other.startup();
  maker.startup();
  std::string body;
  protocol::append_register(body, {"SCHEMA_CHANGE", "STATUS_CHANGE"});
  EXPECT_EQ(watcher.ask(Opcode::register_, body).header.opcode, Opcode::ready);
  body.clear();
  protocol::append_register(body, {"FOO"});
  EXPECT_EQ(error_of(other.ask(Opcode::register_, body)).message, "Invalid value 'FOO' for Type");
  const auto change = std::get<protocol::SchemaChange>(result_of(maker.query("create users")));
  EXPECT_EQ(change.name, "users");
  const Answer event = watcher.read();
  EXPECT_EQ(event.header.opcode, Opcode::event);
  EXPECT_EQ(event.header.stream, -1);
  EXPECT_EQ(std::get<protocol::SchemaChange>(*protocol::decode_event(event.body, Version::v4)).name, "users");
  EXPECT_EQ(other.query("void", 5).header.stream, 5);
}

TEST_F(ServerTest, CompressionBothWays) {
  for (const auto& [name, compression] :
       {std::pair{"lz4", protocol::Compression::lz4}, std::pair{"snappy", protocol::Compression::snappy}}) {
    Client client(port());
    client.startup(Version::v4, {{"COMPRESSION", name}});
    std::string compressed;
    protocol::Query query;
    query.text = "rows 1 5000";
    std::string body;
    protocol::append_query(body, Version::v4, query);
    protocol::compress(compression, body, compressed);
    client.send_raw(Client::frame(Opcode::query, 3, compressed, Version::v4, protocol::flag::compression));
    Answer answer = client.read();
    EXPECT_EQ(answer.header.flags, protocol::flag::compression);
    const auto plain = protocol::decompress(compression, answer.body, protocol::largest_body);
    ASSERT_TRUE(plain);
    answer.body = *plain;
    EXPECT_EQ(values_of(answer)[0].size(), 5000u);
    client.send_raw(Client::frame(Opcode::query, 3, "garbage", Version::v4, protocol::flag::compression));
    EXPECT_EQ(error_of(client.read()).code, base::ErrorCode::protocol);
  }
  Client plain(port());
  plain.startup();
  plain.send_raw(Client::frame(Opcode::query, 3, "garbage", Version::v4, protocol::flag::compression));
  EXPECT_EQ(error_of(plain.read()).code, base::ErrorCode::protocol);
}

TEST_F(ServerTest, CustomPayloadAndTracingAreAccepted) {
  Client client(port());
  client.startup();
  std::string body;
  protocol::append_bytes_map(body, {{"key", std::string("value")}});
  protocol::Query query;
  query.text = "void";
  protocol::append_query(body, Version::v4, query);
  client.send_raw(Client::frame(Opcode::query, 3, body, Version::v4,
                                protocol::flag::custom_payload | protocol::flag::tracing));
  const Answer answer = client.read();
  EXPECT_EQ(answer.header.opcode, Opcode::result);
  EXPECT_EQ(answer.header.flags, protocol::flag::tracing);
}

TEST_F(ServerTest, MalformedBodiesFailOnlyTheirRequest) {
  Client client(port());
  client.startup();
  const std::string good = Client::query_frame("void", 2).substr(protocol::header_size);
  for (const Opcode opcode :
       {Opcode::query, Opcode::execute, Opcode::batch, Opcode::prepare, Opcode::register_}) {
    for (size_t size = 0; size < 4 && !(opcode == Opcode::register_ && size > 1); ++size) {
      const auto error = error_of(client.ask(opcode, good.substr(0, size), 6));
      EXPECT_EQ(error.code, base::ErrorCode::protocol) << static_cast<int>(opcode) << " " << size;
    }
  }
  EXPECT_EQ(error_of(client.ask(Opcode::query, std::string("\0\0\0\2\xff\xfe\0\1\0", 9))).message,
            "Cannot decode string as UTF8: 'fffe'");
  EXPECT_EQ(error_of(client.ask(static_cast<Opcode>(0x33), "body is skipped", 8)).message,
            "Unknown opcode 51");
  EXPECT_EQ(error_of(client.ask(Opcode::result, "", 8)).code, base::ErrorCode::protocol);
  EXPECT_EQ(client.query("void").header.opcode, Opcode::result);
}

TEST_F(ServerTest, EngineErrorsReachTheClient) {
  Client client(port());
  client.startup();
  const auto error = error_of(client.query("fail no such table"));
  EXPECT_EQ(error.code, base::ErrorCode::invalid);
  EXPECT_EQ(error.message, "no such table");
  EXPECT_EQ(error_of(client.query("SELEKT")).code, base::ErrorCode::syntax);
}

TEST_F(ServerTest, BlockingRequestsDoNotDelayOthers) {
  Client client(port());
  client.startup();
  std::string burst;
  for (int16_t i = 0; i < 8; ++i) burst += Client::query_frame("block gate", i);
  client.send_raw(burst);
  engine_.await_waiting(8);
  EXPECT_EQ(client.query("void", 100).header.stream, 100);
  engine_.release("gate");
  std::set<int16_t> streams;
  for (int i = 0; i < 8; ++i) streams.insert(client.read().header.stream);
  EXPECT_EQ(streams.size(), 8u);
}

TEST_F(ServerTest, ManyConnections) {
  std::vector<std::unique_ptr<Client>> clients;
  for (int i = 0; i < 300; ++i) {
    clients.push_back(std::make_unique<Client>(port()));
    ASSERT_TRUE(clients.back()->connected());
    clients.back()->startup();
  }
  for (auto& client : clients) client->send_raw(Client::query_frame("rows 1 10", 1));
  for (auto& client : clients) EXPECT_EQ(values_of(client->read()).size(), 1u);
}

TEST_F(ServerTest, ClientsMayDisconnectWithRequestsInFlight) {
  {
    Client client(port());
    client.startup();
    client.send_raw(Client::query_frame("later gate", 1) + Client::query_frame("block gate", 2));
    engine_.await_waiting(2);
  }
  Client other(port());
  other.startup();
  EXPECT_EQ(other.query("void", 2).header.stream, 2);
  engine_.release("gate");
  server_->stop(std::chrono::seconds(5));
}

TEST_F(ServerTest, StoppingAnswersRequestsInFlight) {
  Client client(port());
  client.startup();
  client.send_raw(Client::query_frame("later gate", 1) + Client::query_frame("block gate", 2));
  engine_.await_waiting(2);
  auto stopped = std::async(std::launch::async, [&] { server_->stop(std::chrono::seconds(10)); });
  while (Client(port()).connected()) std::this_thread::yield();
  engine_.release("gate");
  std::set<int16_t> streams;
  streams.insert(client.read().header.stream);
  streams.insert(client.read().header.stream);
  EXPECT_EQ(streams, (std::set<int16_t>{1, 2}));
  EXPECT_TRUE(client.is_closed());
  stopped.get();
}

TEST_F(ServerTest, StoppingWithoutTimeoutClosesImmediately) {
  Client client(port());
  client.startup();
  server_->stop(std::chrono::milliseconds(0));
  EXPECT_TRUE(client.is_closed());
}

}  // namespace
}  // namespace sibyl::server
