#include "engine/prepared/paging_states.h"

#include <stdlib.h>

#include <filesystem>
#include <fstream>

#include "base/source_path.h"
#include "base/test_directory.h"
#include "engine/roles/test_roles.h"
#include "row/record_key.h"
#include "storage/memory/memory_store.h"

namespace sibyl::engine {
namespace {

using base::Bytes;

// Pages of a table with a masked key.
class PagingStatesTest : public RolesTest {
 protected:
  PagingStatesTest() {
    options_.dynamic_data_masking = true;
    options_.data = directory_.path() + "/data";
    open();
    make_family();
    must("CREATE TABLE ks.m (k text MASKED WITH DEFAULT, c int, v int, PRIMARY KEY (k, c))");
    for (int c = 0; c < 6; ++c)
      must("INSERT INTO ks.m (k, c, v) VALUES ('alice@example.com', " + std::to_string(c) + ", 0)");
    must("GRANT SELECT ON ks.m TO bob");
    must("CREATE ROLE eve WITH PASSWORD = 'eve' AND LOGIN = true");
    must("GRANT SELECT ON ks.m TO eve");
  }
  ~PagingStatesTest() override { engine_.reset(); }

  base::Result<execute::ResultSet> page(const std::string& role, const plan::PreparedPtr& plan,
                                        std::optional<Bytes> state, int32_t size = 2) {
    if (!logins_.contains(role)) logins_[role] = log_in(role);
    execute::Request request;
    request.page_size = size;
    request.paging_state = std::move(state);
    base::Result<execute::ResultSet> answer = base::invalid("never answered");
    engine_->executor().execute_as(
        logins_[role], plan, request,
        [&](base::Result<execute::ResultSet> result) { answer = std::move(result); });
    return answer;
  }
  base::Result<execute::ResultSet> page(const std::string& role, const std::string& text,
                                        std::optional<Bytes> state, const std::string& keyspace = "ks") {
    const auto plan = engine_->planner().plan_query(text, keyspace);
    EXPECT_TRUE(plan) << plan.error().message();
    return page(role, *plan, std::move(state));
  }
  Bytes first(const std::string& role, const std::string& text) {
    const auto result = page(role, text, std::nullopt);
    EXPECT_TRUE(result && result->paging_state);
    return result && result->paging_state ? *result->paging_state : Bytes();
  }
  static void expect_refused(const base::Result<execute::ResultSet>& result,
                             base::ErrorCode code = base::ErrorCode::invalid) {
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code(), code);
    EXPECT_EQ(result.error().message(), "Invalid value for the paging state");
  }

  const base::TemporaryDirectory directory_;
  const std::string text_ = "SELECT c FROM m";
};

TEST_F(PagingStatesTest, RevealNeitherKeysNorTheirLength) {
  const Bytes state = first("bob", text_);
  EXPECT_EQ(state.find("alice"), Bytes::npos);
  EXPECT_NE(state, first("bob", text_));
  must("CREATE TABLE ks.n (k text, c int, PRIMARY KEY (k, c))");
  must("GRANT SELECT ON ks.n TO bob");
  for (const char* key : {"a", "a longer key"}) {
    must("TRUNCATE ks.n");
    for (int c = 0; c < 3; ++c)
      must("INSERT INTO ks.n (k, c) VALUES ('" + std::string(key) + "', " + std::to_string(c) + ")");
    EXPECT_EQ(first("bob", "SELECT * FROM n").size(), state.size());
  }
}

TEST_F(PagingStatesTest, ContinueTheSameStatementHoweverItIsSent) {
  const Bytes state = first("bob", text_);
  EXPECT_THAT(print(page("bob", text_, state)), testing::ElementsAre("2", "3"));
  EXPECT_THAT(print(page("bob", text_, state)), testing::ElementsAre("2", "3")) << "a second time";
  const auto prepared = engine_->planner().prepare(text_, "ks");
  ASSERT_TRUE(prepared);
  EXPECT_THAT(print(page("bob", prepared->plan, state)), testing::ElementsAre("2", "3"));
  EXPECT_THAT(print(page("bob", prepared->plan, state, 100)), testing::ElementsAre("2", "3", "4", "5"));
  must("ALTER TABLE ks.m ADD w int");
  EXPECT_THAT(print(page("bob", text_, state)), testing::ElementsAre("2", "3"));
  const std::string qualified = "SELECT c FROM ks.m";
  const Bytes other = first("bob", qualified);
  EXPECT_THAT(print(page("bob", qualified, other, "")), testing::ElementsAre("2", "3"))
      << "no keyspace in use";
  for (const char* same : {"select C from KS.m", "SELECT c\n  FROM ks.m -- comment", "SELECT c FROM ks . m;"})
    EXPECT_THAT(print(page("bob", same, other, "")), testing::ElementsAre("2", "3")) << same;
  expect_refused(page("bob", "SELECT \"c\" FROM ks.m", other, ""));
}

TEST_F(PagingStatesTest, AreRejectedForAnotherStatementOrRole) {
  const Bytes state = first("bob", text_);
  expect_refused(page("bob", "SELECT v FROM m", state));
  expect_refused(page("bob", "SELECT c FROM m LIMIT 100", state));
  expect_refused(page("bob", "SELECT count(*) FROM m", state));
  expect_refused(page("eve", text_, state));
  expect_refused(page("cassandra", text_, state));
  must("CREATE KEYSPACE other WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}");
  must("CREATE TABLE other.m (k text, c int, v int, PRIMARY KEY (k, c))");
  must("GRANT SELECT ON other.m TO bob");
  expect_refused(page("bob", text_, state, "other"));
}

TEST_F(PagingStatesTest, AreRejectedWhenModifiedOrForged) {
  const Bytes state = first("bob", text_);
  for (size_t i = 0; i < state.size(); ++i) {
    Bytes changed = state;
    changed[i] ^= 4;
    expect_refused(page("bob", text_, changed),
                   i == 0 ? base::ErrorCode::protocol : base::ErrorCode::invalid);
    expect_refused(page("bob", text_, state.substr(0, i)), base::ErrorCode::protocol);
  }
  expect_refused(page("bob", text_, state + "x"));
  expect_refused(page("bob", text_, Bytes(1000, 'x')), base::ErrorCode::protocol);
  // The format of earlier versions.
  expect_refused(page("bob", text_, Bytes("S\x01\x80\x08\x05", 5) + "alice"), base::ErrorCode::protocol);
}

TEST_F(PagingStatesTest, SurviveARestartButNotAnotherServer) {
  const Bytes state = first("bob", text_);
  open();
  EXPECT_THAT(print(page("bob", text_, state)), testing::ElementsAre("2", "3"));
  options_.data = directory_.path() + "/other";
  open();
  make_family();
  must("CREATE TABLE ks.m (k text MASKED WITH DEFAULT, c int, v int, PRIMARY KEY (k, c))");
  must("GRANT SELECT ON ks.m TO bob");
  expect_refused(page("bob", text_, state));
}

TEST_F(PagingStatesTest, AreSealedForDescribeAsWell) {
  const Bytes state = first("bob", "DESCRIBE KEYSPACES");
  ASSERT_TRUE(page("bob", "DESCRIBE KEYSPACES", state));
  expect_refused(page("eve", "DESCRIBE KEYSPACES", state));
  expect_refused(page("bob", "DESCRIBE SCHEMA", state));
}

// States and keys of earlier versions must always be readable.
TEST(PagingStates, AreOpenedInEveryVersion) {
  std::ifstream file(base::source_path("tests/data/paging_state_v2.txt"));
  std::map<std::string, Bytes> sample;
  std::string name, value;
  std::getline(file, name);  // description
  while (file >> name >> value) ASSERT_TRUE(base::from_hex(value, sample[name]));
  base::ManualClock clock(0);
  const auto store = storage::memory::make_store({.clock = &clock});
  storage::WriteSet writes;
  writes.put(row::table_begin(keys_table_id) + "p", sample["record"]);
  ASSERT_TRUE(store->commit(std::move(writes)));
  const auto key = load_paging_key(*store);
  ASSERT_TRUE(key) << key.error().message();
  const auth::Login bob{"bob", 1};
  const auto opened = PagingStates(*key).open("SELECT * FROM ks.t", &bob, sample["sealed"]);
  ASSERT_TRUE(opened) << opened.error().message();
  EXPECT_EQ(*opened, sample["state"]);
}

}  // namespace
}  // namespace sibyl::engine
