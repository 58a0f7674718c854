#include "forwarding/statement_messages.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <memory>
#include <string>

#include "types/type.h"

namespace sibyl::forwarding {
namespace {

using types::Kind;
using types::ValueView;

StatementRequest sample() {
  StatementRequest request;
  request.shards = {{3, 17}, {4, 1ull << 40}};
  request.schema_version = std::string(16, 's');
  request.role = "alice";
  request.parameters.page_size = -1;
  request.parameters.paging_state = "state";
  request.parameters.timestamp_micros = -5;
  request.parameters.now_seconds = 1'700'000'000;
  request.parameters.consistency = execute::Consistency::local_quorum;
  request.parameters.serial_consistency = execute::Consistency::local_serial;
  request.batch = cql::Batch::Kind::unlogged;
  request.statements = {{"ks",
                         "INSERT ...",
                         "id",
                         {ValueView::null(), ValueView::unset(), ValueView::of(""), ValueView::of("v")}},
                        {"", "DELETE ...", "", {}}};
  return request;
}

TEST(StatementMessages, RequestsDecodeToWhatWasEncoded) {
  const base::Bytes bytes = sample().encode();
  const auto decoded = StatementRequest::decode(bytes);
  ASSERT_TRUE(decoded);
  EXPECT_EQ(decoded->shards, sample().shards);
  EXPECT_EQ(decoded->role, "alice");
  EXPECT_EQ(decoded->parameters.page_size, -1);
  EXPECT_EQ(decoded->parameters.paging_state, "state");
  EXPECT_EQ(decoded->parameters.timestamp_micros, -5);
  EXPECT_EQ(decoded->parameters.now_seconds, 1'700'000'000);
  EXPECT_EQ(decoded->parameters.consistency, execute::Consistency::local_quorum);
  EXPECT_EQ(decoded->batch, cql::Batch::Kind::unlogged);
  ASSERT_EQ(decoded->statements.size(), 2u);
  ASSERT_EQ(decoded->statements[0].values.size(), 4u);
  EXPECT_TRUE(decoded->statements[0].values[0].is_null());
  EXPECT_TRUE(decoded->statements[0].values[1].is_unset());
  EXPECT_EQ(decoded->statements[0].values[3].bytes, "v");
  EXPECT_EQ(decoded->encode(), bytes);
}

plan::ResultMetadataPtr columns() {
  auto columns = std::make_shared<plan::ResultMetadata>();
  columns->columns = {{"ks", "t", "k", types::scalar(Kind::int_)},
                      {"ks", "t", "v", types::scalar(Kind::text)}};
  return columns;
}

StatementAnswer rows() {
  StatementAnswer answer;
  answer.result.kind = execute::ResultSet::Kind::rows;
  answer.result.metadata = columns();
  answer.result.rows.add(std::string("\0\0\0\1", 4));
  answer.result.rows.add_null();
  answer.result.rows.end_row();
  answer.result.paging_state = "more";
  answer.result.warnings = {"careful"};
  answer.result.rows_read = 9;
  return answer;
}

TEST(StatementMessages, RowsDecodeToWhatWasEncoded) {
  const StatementAnswer answer = rows();
  const auto decoded = StatementAnswer::decode(answer.encode(nullptr), nullptr);
  ASSERT_TRUE(decoded);
  EXPECT_EQ(decoded->result.rows.count(), 1u);
  EXPECT_EQ(decoded->result.rows.bytes(), answer.result.rows.bytes());
  EXPECT_EQ(decoded->result.paging_state, "more");
  EXPECT_EQ(decoded->result.warnings, answer.result.warnings);
  ASSERT_EQ(decoded->result.metadata->columns.size(), 2u);
  EXPECT_EQ(decoded->result.metadata->columns[1].name, "v");
  EXPECT_EQ(decoded->result.metadata->columns[1].type->kind(), Kind::text);
  // Columns that both servers know are not sent.
  const auto known = columns();
  EXPECT_LT(answer.encode(answer.result.metadata).size(), answer.encode(nullptr).size());
  const auto with_known = StatementAnswer::decode(answer.encode(answer.result.metadata), known);
  ASSERT_TRUE(with_known);
  EXPECT_EQ(with_known->result.metadata, known);
}

TEST(StatementMessages, ErrorsKeepEveryField) {
  base::ErrorDetails error;
  error.code = base::ErrorCode::write_timeout;
  error.message = "m";
  error.hint = "h";
  error.position = base::Position{2, 3, 4};
  error.consistency = 4;
  error.required = 2;
  error.received = 1;
  error.function = "f";
  error.argument_types = {"int"};
  error.data_present = true;
  StatementAnswer answer{.outcome = StatementAnswer::Outcome::failed, .error = base::Error(error)};
  const auto decoded = StatementAnswer::decode(answer.encode(nullptr), nullptr);
  ASSERT_TRUE(decoded && decoded->error);
  const base::ErrorDetails& found = decoded->error->details();
  EXPECT_EQ(found.code, error.code);
  EXPECT_EQ(decoded->error->text(), "m [hint: h]");
  EXPECT_EQ(found.position->column, 3u);
  EXPECT_EQ(found.consistency, 4);
  EXPECT_EQ(found.required, 2);
  EXPECT_EQ(found.argument_types, error.argument_types);
  EXPECT_TRUE(found.data_present);
}

RC_GTEST_PROP(StatementMessagesProperties, CutMessagesAreRefused, ()) {
  const base::Bytes request = sample().encode(), answer = rows().encode(nullptr);
  RC_ASSERT(!StatementRequest::decode(request.substr(0, *rc::gen::inRange<size_t>(0, request.size()))));
  RC_ASSERT(!StatementAnswer::decode(answer.substr(0, *rc::gen::inRange<size_t>(0, answer.size())), nullptr));
}

}  // namespace
}  // namespace sibyl::forwarding
