#include "client/connection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/fake_engine.h"
#include "server/server.h"

namespace sibyl::client {
namespace {

class ConnectionTest : public testing::Test {
 protected:
  void SetUp() override {
    server::Options options;
    options.port = 0;
    options.limits.linger_timeout = std::chrono::milliseconds(100);
    auto started = server::Server::start(engine_.services(), options);
    ASSERT_TRUE(started) << started.error().message();
    server_ = std::move(*started);
  }
  std::unique_ptr<Connection> connect(Options options = {}) {
    options.port = server_->port();
    auto connection = Connection::connect(options);
    EXPECT_TRUE(connection) << connection.error().message();
    return connection ? std::move(*connection) : nullptr;
  }

  server::FakeEngine engine_;
  std::unique_ptr<server::Server> server_;
};

std::vector<std::string> values_of(Result& result) {
  std::vector<std::string> values;
  Row row;
  while (result.next(row))
    for (const auto& value : row) values.emplace_back(value.value_or("null"));
  return values;
}

TEST_F(ConnectionTest, QueriesOfEveryKind) {
  auto connection = connect();
  EXPECT_EQ(connection->query("void")->kind, Result::Kind::nothing);
  auto rows = connection->query("rows 3 2");
  ASSERT_TRUE(rows);
  EXPECT_EQ(rows->kind, Result::Kind::rows);
  EXPECT_EQ(rows->row_count(), 3u);
  EXPECT_EQ(rows->columns.at(0).name, "v");
  EXPECT_EQ(values_of(*rows), (std::vector<std::string>{"vv", "vv", "vv"}));
  EXPECT_EQ(connection->query("use shop")->keyspace, "shop");
  EXPECT_EQ(connection->query("create t")->change.name, "t");
  EXPECT_EQ(connection->query("warn slowly")->warnings, std::vector<std::string>{"slowly"});
}

TEST_F(ConnectionTest, ErrorsHaveCodeAndText) {
  auto connection = connect();
  const auto failed = connection->query("fail because");
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code(), base::ErrorCode::invalid);
  EXPECT_EQ(failed.error().message(), "because");
  EXPECT_TRUE(connection->is_connected());
  EXPECT_TRUE(connection->query("void"));
}

TEST_F(ConnectionTest, ValuesPagesAndNames) {
  auto connection = connect();
  const std::vector<ValueView> values = {ValueView::of("1"), ValueView::null()};
  StatementOptions options;
  options.page_size = 7;
  auto result = connection->query("values", values, options);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->paging_state, "page 7");
  EXPECT_EQ(values_of(*result), (std::vector<std::string>{"1", "null"}));
  options.names = {"b", "a"};
  result = connection->query("values", values, options);
  ASSERT_TRUE(result);
  EXPECT_EQ(values_of(*result), (std::vector<std::string>{"null", "1"}));
}

TEST_F(ConnectionTest, PreparedStatementsArePreparedAgain) {
  auto connection = connect();
  auto prepared = connection->prepare("values");
  ASSERT_TRUE(prepared);
  EXPECT_EQ(prepared->markers.size(), 2u);
  const std::vector<ValueView> values = {ValueView::of("1"), ValueView::of("2")};
  EXPECT_EQ(connection->execute(*prepared, values)->row_count(), 2u);
  prepared->id = "forgotten";
  EXPECT_EQ(connection->execute(*prepared, values)->row_count(), 2u);
  EXPECT_EQ(prepared->id, "id-values");
}

TEST_F(ConnectionTest, Batches) {
  auto connection = connect();
  auto prepared = connection->prepare("values");
  ASSERT_TRUE(prepared);
  const std::vector<ValueView> values = {ValueView::of("1"), ValueView::unset()};
  const std::vector<BatchStatement> statements = {{"void", nullptr, {}}, {"", &*prepared, values}};
  auto result = connection->batch(protocol::Batch::Kind::unlogged, statements);
  ASSERT_TRUE(result) << result.error().message();
  EXPECT_EQ(values_of(*result), (std::vector<std::string>{"void/0", "values/2"}));
}

TEST_F(ConnectionTest, PipelinedRequestsFinishInAnyOrder) {
  auto connection = connect();
  const auto slow = connection->start_query("later gate");
  std::vector<Connection::Ticket> tickets;
  for (int i = 0; i < 500; ++i) tickets.push_back(*connection->start_query("rows 1 10"));
  for (auto at = tickets.rbegin(); at != tickets.rend(); ++at)
    EXPECT_EQ(connection->finish(*at)->row_count(), 1u);
  engine_.release("gate");
  EXPECT_TRUE(connection->finish(*slow));
}

TEST_F(ConnectionTest, CompressedBothWays) {
  for (const auto compression : {protocol::Compression::lz4, protocol::Compression::snappy}) {
    Options options;
    options.compression = compression;
    auto connection = connect(options);
    const std::string large(100'000, 'x');
    const std::vector<ValueView> values = {ValueView::of(large), ValueView::null()};
    auto result = connection->query("values", values);
    ASSERT_TRUE(result) << result.error().message();
    EXPECT_EQ(values_of(*result)[0], large);
  }
}

TEST_F(ConnectionTest, Events) {
  auto watcher = connect();
  auto maker = connect();
  ASSERT_TRUE(watcher->register_events({"SCHEMA_CHANGE"}));
  EXPECT_FALSE(watcher->next_event(std::chrono::milliseconds(0))->has_value());
  ASSERT_TRUE(maker->query("create users"));
  const auto event = watcher->next_event(std::chrono::seconds(10));
  ASSERT_TRUE(event && *event);
  EXPECT_EQ(std::get<protocol::SchemaChange>(**event).name, "users");
}

TEST_F(ConnectionTest, LosingTheServerIsReported) {
  auto connection = connect();
  const auto ticket = connection->start_query("void");
  ASSERT_TRUE(connection->finish(*ticket));
  server_.reset();
  const auto failed = connection->query("void");
  ASSERT_FALSE(failed);
  EXPECT_FALSE(connection->is_connected());
  EXPECT_FALSE(connection->query("void"));
}

TEST_F(ConnectionTest, TimeoutsAreKept) {
  Options options;
  options.request_timeout = std::chrono::milliseconds(20);
  auto connection = connect(options);
  const auto failed = connection->query("later gate");
  ASSERT_FALSE(failed);
  EXPECT_THAT(failed.error().message(), testing::HasSubstr("no answer in time"));
  engine_.release("gate");
}

TEST(Connect, NoServerIsAnError) {
  Options options;
  options.port = 1;
  const auto connection = Connection::connect(options);
  ASSERT_FALSE(connection);
  EXPECT_EQ(connection.error().message(), "127.0.0.1:1: Connection refused");
}

TEST_F(ConnectionTest, SegmentsOfVersionFive) {
  for (const auto compression : {protocol::Compression::none, protocol::Compression::lz4}) {
    Options options;
    options.version = protocol::Version::v5;
    options.compression = compression;
    auto connection = connect(options);
    ASSERT_NE(connection, nullptr);
    EXPECT_EQ(connection->query("void")->kind, Result::Kind::nothing);
    EXPECT_EQ(connection->query("fail because").error().message(), "because");
    auto large = connection->query("rows 3 1000000");
    ASSERT_TRUE(large);
    EXPECT_EQ(values_of(*large)[2].size(), 1'000'000u);
    auto prepared = connection->prepare("values");
    ASSERT_TRUE(prepared);
    const std::string value(500'000, 'x');
    const std::vector<ValueView> values = {ValueView::of(value), ValueView::null()};
    auto echoed = connection->execute(*prepared, values);
    ASSERT_TRUE(echoed);
    EXPECT_EQ(values_of(*echoed), (std::vector<std::string>{value, "null"}));
    std::vector<Connection::Ticket> tickets;
    for (int i = 0; i < 1000; ++i) tickets.push_back(*connection->start_query("rows 1 200"));
    for (const auto ticket : tickets) EXPECT_EQ(connection->finish(ticket)->row_count(), 1u);
    StatementOptions in_shop;
    in_shop.keyspace = "shop";
    auto keyspace = connection->query("keyspace", {}, in_shop);
    ASSERT_TRUE(keyspace);
    EXPECT_EQ(values_of(*keyspace), std::vector<std::string>{"shop"});
  }
}

}  // namespace
}  // namespace sibyl::client
