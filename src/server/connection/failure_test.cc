#include "server/connection/failure.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/engine.h"
#include "server/connection/connection.h"

namespace sibyl::server {
namespace {

using protocol::Consistency;

class FailureTest : public testing::Test {
 protected:
  void SetUp() override {
    engine_ = std::move(*engine::Engine::open({}));
    for (const char* text :
         {"CREATE KEYSPACE ks WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
          "CREATE TABLE ks.t (k int PRIMARY KEY, v int)",
          "CREATE TABLE ks.c (k int PRIMARY KEY, n counter)"}) {
      const auto plan = engine_->planner().plan_query(text, "");
      ASSERT_TRUE(plan) << plan.error().text();
      engine_->executor().execute_as(nullptr, *plan, {}, [](const auto& result) { ASSERT_TRUE(result); });
    }
  }
  // Valid until the next call.
  const InFlightRequest& request_of(const char* text) {
    request_ = std::make_unique<InFlightRequest>();
    request_->plan = *engine_->planner().plan_query(text, "ks");
    request_->engine_request.consistency = execute::Consistency::local_quorum;
    request_->engine_request.serial_consistency = execute::Consistency::local_serial;
    return *request_;
  }
  std::string type_of(const char* text) { return std::string(write_type_of(request_of(text))); }

  std::unique_ptr<engine::Engine> engine_;
  std::unique_ptr<InFlightRequest> request_;
};

TEST_F(FailureTest, WritesHaveTheirKind) {
  EXPECT_EQ(type_of("INSERT INTO t (k, v) VALUES (1, 1)"), "SIMPLE");
  EXPECT_EQ(type_of("INSERT INTO t (k, v) VALUES (1, 1) IF NOT EXISTS"), "CAS");
  EXPECT_EQ(type_of("UPDATE c SET n = n + 1 WHERE k = 1"), "COUNTER");
  // No part of a logged batch has been written, not even its log.
  EXPECT_EQ(type_of("BEGIN BATCH INSERT INTO t (k) VALUES (1); INSERT INTO t (k) VALUES (2); APPLY BATCH"),
            "BATCH_LOG");
  EXPECT_EQ(
      type_of("BEGIN UNLOGGED BATCH INSERT INTO t (k) VALUES (1); INSERT INTO t (k) VALUES (2); APPLY BATCH"),
      "UNLOGGED_BATCH");
  EXPECT_EQ(type_of("BEGIN BATCH INSERT INTO t (k) VALUES (1); APPLY BATCH"), "SIMPLE");
  EXPECT_EQ(type_of("BEGIN COUNTER BATCH UPDATE c SET n = n + 1 WHERE k = 1; APPLY BATCH"), "COUNTER");
  EXPECT_EQ(type_of("BEGIN BATCH INSERT INTO t (k) VALUES (1) IF NOT EXISTS; APPLY BATCH"), "CAS");
}

TEST_F(FailureTest, ProtocolBatchesHaveTheirKind) {
  InFlightRequest request;
  request.batch_tables = {1};
  request.batch.statements.resize(2);
  request.batch.kind = protocol::Batch::Kind::logged;
  EXPECT_EQ(write_type_of(request), "BATCH_LOG");
  request.batch.kind = protocol::Batch::Kind::unlogged;
  EXPECT_EQ(write_type_of(request), "UNLOGGED_BATCH");
  request.batch.kind = protocol::Batch::Kind::counter;
  EXPECT_EQ(write_type_of(request), "COUNTER");
  request.is_conditional_batch = true;
  EXPECT_EQ(write_type_of(request), "CAS");
}

TEST_F(FailureTest, NamesTheNodeAndTheRequestedConsistency) {
  const std::string address("\x0a\0\0\7", 4);
  protocol::ErrorMessage failed = protocol::to_message(base::Error(base::ErrorCode::write_failure, "full"));
  describe_failure(request_of("INSERT INTO t (k, v) VALUES (1, 1)"), address, failed);
  EXPECT_EQ(failed.consistency, Consistency::local_quorum);
  EXPECT_EQ(failed.received, 0);
  EXPECT_EQ(failed.required, 1);
  EXPECT_EQ(failed.failures, 1);
  EXPECT_EQ(failed.write_type, "SIMPLE");
  ASSERT_EQ(failed.failure_reasons.size(), 1u);
  EXPECT_EQ(failed.failure_reasons[0], std::pair(address, uint16_t{0}));

  describe_failure(request_of("INSERT INTO t (k, v) VALUES (1, 1) IF NOT EXISTS"), address, failed);
  EXPECT_EQ(failed.consistency, Consistency::local_serial);
  EXPECT_EQ(failed.write_type, "CAS");

  base::ErrorDetails tombstones;
  tombstones.code = base::ErrorCode::read_failure;
  tombstones.failures = 1;
  tombstones.failure_reason = 1;
  protocol::ErrorMessage read = protocol::to_message(base::Error(tombstones));
  describe_failure(request_of("SELECT * FROM t"), address, read);
  EXPECT_EQ(read.consistency, Consistency::local_quorum);
  EXPECT_EQ(read.failure_reasons[0], std::pair(address, uint16_t{1}));

  protocol::ErrorMessage other = protocol::to_message(base::Error(base::ErrorCode::invalid, "no"));
  describe_failure(request_of("SELECT * FROM t"), address, other);
  EXPECT_EQ(other.failures, 0);
}

TEST(ErrorPositions, FollowTheTextUnlessItBeginsWithThem) {
  const base::Error invalid = base::Error(base::ErrorCode::invalid, "Undefined column name b").with_hint("a");
  const auto text = [](const base::Error& error) {
    protocol::ErrorMessage message = protocol::to_message(error);
    protocol::append_position(message, error);
    return message.message;
  };
  EXPECT_EQ(text(invalid), "Undefined column name b [hint: a]");
  EXPECT_EQ(text(invalid.at({2, 7, 20})), "Undefined column name b [hint: a] [position: 2:7]");
  EXPECT_EQ(text(base::Error(base::ErrorCode::syntax, "line 1:3 no").at({1, 3, 3})), "line 1:3 no");
}

}  // namespace
}  // namespace sibyl::server
