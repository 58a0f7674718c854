// Prepared statements over the network, on a real engine: the responses to clients of each protocol version
// after a schema change.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/engine.h"
#include "server/connection/redefined_statements.h"
#include "server/test_client.h"

namespace sibyl::server {
namespace {

using protocol::PreparedResult;
using protocol::RowsResult;
using testing::ElementsAre;
using types::ValueView;

class PreparedTest : public testing::TestWithParam<Version> {
 protected:
  PreparedTest() {
    engine::Options engine_options;
    engine_options.data = ":memory:";
    engine_ = std::move(*engine::Engine::open(engine_options));
    Options options;
    options.port = 0;
    options.threads = 2;
    auto started = Server::start(engine_->services(), options);
    EXPECT_TRUE(started) << started.error().message();
    server_ = std::move(*started);
    must("CREATE KEYSPACE ks WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}");
    must("CREATE TYPE ks.pair (a int)");
    must("CREATE TABLE ks.t (k int PRIMARY KEY, v text, p frozen<ks.pair>)");
    must("INSERT INTO ks.t (k, v, p) VALUES (1, 'old', {a: 5})");
  }

  // A client that keeps the columns of the statement that it has prepared.
  struct Connection {
    explicit Connection(const Server& server) : client(server.port()) { client.startup(GetParam()); }

    PreparedResult prepare(std::string_view text) {
      std::string body;
      protocol::append_prepare(body, GetParam(), {text, std::nullopt});
      return std::get<PreparedResult>(result_of(client.ask(Opcode::prepare, body)));
    }
    Answer execute(const PreparedResult& statement, std::vector<ValueView> values = {}) {
      protocol::Execute execute;
      execute.id = statement.id;
      execute.result_metadata_id = statement.result_metadata_id;
      execute.parameters.values = std::move(values);
      execute.parameters.skip_metadata = true;
      std::string body;
      protocol::append_execute(body, GetParam(), execute);
      return client.ask(Opcode::execute, body);
    }
    Answer batch(const PreparedResult& statement, const std::vector<ValueView>& values) {
      protocol::Batch batch;
      batch.statements.push_back({true, statement.id, 0, static_cast<uint32_t>(values.size())});
      batch.values = values;
      std::string body;
      protocol::append_batch(body, GetParam(), batch);
      return client.ask(Opcode::batch, body);
    }

    Client client;
  };

  void must(std::string_view text) {
    Client client(server_->port());
    client.startup();
    const Answer answer = client.query(text);
    EXPECT_EQ(answer.header.opcode, Opcode::result) << text << ": " << answer.body;
  }
  static bool is_unprepared(const Answer& answer, const PreparedResult& statement) {
    if (answer.header.opcode != Opcode::error) return false;
    const protocol::ErrorMessage error = error_of(answer);
    return error.code == base::ErrorCode::unprepared && error.statement_id == statement.id;
  }
  static std::vector<std::string> names(const std::vector<protocol::Column>& columns) {
    std::vector<std::string> found;
    for (const protocol::Column& column : columns) found.push_back(column.name);
    return found;
  }
  // The columns with which the client decodes the response.
  static std::vector<std::string> columns_of(const Answer& answer, const PreparedResult& statement) {
    const auto rows = std::get<RowsResult>(result_of(answer));
    return names(rows.columns.empty() ? statement.result : rows.columns);
  }

  std::unique_ptr<engine::Engine> engine_;
  std::unique_ptr<Server> server_;
};

INSTANTIATE_TEST_SUITE_P(Versions, PreparedTest, testing::Values(Version::v3, Version::v4, Version::v5),
                         [](const auto& info) { return "v" + std::to_string(static_cast<int>(info.param)); });

TEST_P(PreparedTest, AddedColumnsArrive) {
  Connection client(*server_);
  auto select = client.prepare("SELECT * FROM ks.t");
  EXPECT_TRUE(std::get<RowsResult>(result_of(client.execute(select))).columns.empty());
  must("ALTER TABLE ks.t ADD a int");
  for (int i = 0; i < 2; ++i) EXPECT_TRUE(is_unprepared(client.execute(select), select));
  const auto before = select;
  select = client.prepare("SELECT * FROM ks.t");
  EXPECT_EQ(select.id, before.id);
  EXPECT_THAT(columns_of(client.execute(select), select), ElementsAre("k", "a", "p", "v"));
  // The driver prepares again, but still decodes with the columns of its first PREPARE.
  EXPECT_THAT(columns_of(client.execute(before), before), ElementsAre("k", "a", "p", "v"));
}

TEST_P(PreparedTest, FieldsOfUserTypesArrive) {
  Connection client(*server_);
  for (const char* change : {"ALTER TYPE ks.pair ADD b text", "ALTER TYPE ks.pair RENAME a TO c"}) {
    const auto before = client.prepare("SELECT p FROM ks.t");
    must(change);
    EXPECT_TRUE(is_unprepared(client.execute(before), before));
    const auto after = client.prepare("SELECT p FROM ks.t");
    EXPECT_FALSE(*after.result[0].type == *before.result[0].type);
    if (GetParam() == Version::v5) {
      EXPECT_NE(after.result_metadata_id, before.result_metadata_id);
    }
    const auto rows = std::get<RowsResult>(result_of(client.execute(before)));
    ASSERT_EQ(rows.columns.size(), 1u);
    EXPECT_EQ(*rows.columns[0].type, *after.result[0].type);
    EXPECT_EQ(rows.new_metadata_id.has_value(), GetParam() == Version::v5);
  }
}

TEST_P(PreparedTest, WritesAndBatches) {
  Connection client(*server_);
  const std::string key("\0\0\0\2", 4);
  const std::vector<ValueView> values = {ValueView::of(key), ValueView::null()};
  const char* const text = "INSERT INTO ks.t (k, p) VALUES (?, ?)";
  for (const char* change : {"ALTER TYPE ks.pair ADD b text", "ALTER TABLE ks.t ADD a int"}) {
    const auto insert = client.prepare(text);
    EXPECT_EQ(client.batch(insert, values).header.opcode, Opcode::result);
    must(change);
    EXPECT_TRUE(is_unprepared(client.execute(insert, values), insert));
    EXPECT_TRUE(is_unprepared(client.batch(insert, values), insert));
    const auto again = client.prepare(text);
    EXPECT_EQ(client.batch(again, values).header.opcode, Opcode::result);
    EXPECT_EQ(client.execute(again, values).header.opcode, Opcode::result);
  }
}

// The id is the same for all clients. A client that has not prepared again must not be served because another
// client has.
TEST_P(PreparedTest, AClientMustPrepareAgainEvenIfAnotherHas) {
  Connection first(*server_), second(*server_);
  const auto before = first.prepare("SELECT * FROM ks.t");
  must("ALTER TABLE ks.t ADD a int");
  const auto after = second.prepare("SELECT * FROM ks.t");
  EXPECT_THAT(columns_of(second.execute(after), after), ElementsAre("k", "a", "p", "v"));
  for (int i = 0; i < 2; ++i) EXPECT_TRUE(is_unprepared(first.execute(before), before));
  const auto again = first.prepare("SELECT * FROM ks.t");
  EXPECT_THAT(columns_of(first.execute(again), again), ElementsAre("k", "a", "p", "v"));
  // A driver may prepare a statement on one connection and execute it on another.
  Connection third(*server_);
  EXPECT_TRUE(is_unprepared(third.execute(again), again));
  first.prepare("SELECT * FROM ks.t");
  EXPECT_THAT(columns_of(third.execute(again), again), ElementsAre("k", "a", "p", "v"));
}

TEST_P(PreparedTest, ConditionalWritesSendTheirColumns) {
  Connection client(*server_);
  const char* const text = "INSERT INTO ks.t (k) VALUES (1) IF NOT EXISTS";
  auto insert = client.prepare(text);
  EXPECT_THAT(names(std::get<RowsResult>(result_of(client.execute(insert))).columns),
              ElementsAre("[applied]", "k", "p", "v"));
  must("ALTER TABLE ks.t ADD a int");
  EXPECT_TRUE(is_unprepared(client.execute(insert), insert));
  insert = client.prepare(text);
  EXPECT_THAT(names(std::get<RowsResult>(result_of(client.execute(insert))).columns),
              ElementsAre("[applied]", "k", "a", "p", "v"));
}

TEST(RedefinedStatements, AreAdmittedOncePreparedAgain) {
  plan::Prepared plan;
  RedefinedStatements connection, other;
  EXPECT_TRUE(connection.admits(plan));
  plan.redefinition = std::make_shared<plan::Redefinition>();
  plan.redefinition->prepares = 5;
  EXPECT_FALSE(connection.admits(plan));
  EXPECT_FALSE(connection.admits(plan));
  plan.redefinition->prepares = 6;
  EXPECT_TRUE(connection.admits(plan));
  other.prepared(plan);
  EXPECT_TRUE(other.admits(plan));
}

TEST(RedefinedStatements, AreBounded) {
  RedefinedStatements connection;
  for (size_t i = 0; i <= 3 * RedefinedStatements::max_known; ++i) {
    plan::Prepared plan;
    plan.redefinition = std::make_shared<plan::Redefinition>();
    plan.redefinition->prepares = 1;
    connection.prepared(plan);
    ASSERT_TRUE(connection.admits(plan));
  }
}

}  // namespace
}  // namespace sibyl::server
