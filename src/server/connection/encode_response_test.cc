#include "server/connection/encode_response.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "protocol/frame.h"

namespace sibyl::server {
namespace {

using protocol::FrameStep;
using protocol::Opcode;
using protocol::Version;
using testing::ElementsAre;
using testing::IsEmpty;

// Parses the only frame in `out`.
FrameStep parse(const std::string& out, protocol::Envelope& envelope) {
  FrameStep step = protocol::next_frame(out, protocol::Direction::response, protocol::largest_body);
  EXPECT_EQ(step.kind, FrameStep::Kind::frame);
  EXPECT_EQ(step.size, out.size());
  EXPECT_TRUE(protocol::take_envelope(step.header, protocol::Direction::response, step.body, envelope));
  return step;
}

plan::ResultMetadataPtr columns(const std::string& name) {
  return std::make_shared<const plan::ResultMetadata>(
      plan::ResultMetadata{{{"ks", "t", name, types::scalar(types::Kind::blob)}}});
}

execute::ResultSet rows(const plan::ResultMetadataPtr& metadata) {
  execute::ResultSet result;
  result.kind = execute::ResultSet::Kind::rows;
  result.metadata = metadata;
  result.rows.add("value");
  result.rows.end_row();
  return result;
}

class ResponseTest : public testing::TestWithParam<Version> {
 protected:
  ResponseTest() {
    auto plan = std::make_shared<plan::Prepared>();
    plan->result = columns("v");
    plan->result_id = plan::metadata_id(*plan->result);
    plan->plan = plan::Use{};
    plan_ = plan;
    request_.stream = 9;
    request_.plan = plan_;
    request_.is_execute = true;
    request_.execute.result_metadata_id = plan_->result_id;
    request_.skip_metadata = true;
  }
  protocol::RowsResult encode(const execute::ResultSet& result) {
    out_.clear();
    append_result(out_, format_, request_, result);
    protocol::Envelope envelope;
    const FrameStep step = parse(out_, envelope);
    EXPECT_EQ(step.header.stream, 9);
    EXPECT_EQ(step.header.opcode, Opcode::result);
    warnings_ = envelope.warnings;
    const auto message = protocol::decode_result(step.body, GetParam());
    EXPECT_TRUE(message && std::holds_alternative<protocol::RowsResult>(*message));
    return message ? std::get<protocol::RowsResult>(*message) : protocol::RowsResult();
  }

  const ResponseFormat format_{GetParam(), protocol::Compression::none};
  std::shared_ptr<const plan::Prepared> plan_;
  InFlightRequest request_;
  std::string out_;
  std::vector<std::string> warnings_;
};

INSTANTIATE_TEST_SUITE_P(Versions, ResponseTest, testing::Values(Version::v3, Version::v4, Version::v5),
                         [](const auto& info) { return "v" + std::to_string(static_cast<int>(info.param)); });

TEST_P(ResponseTest, ColumnsAreLeftOutIfTheClientKnowsThem) {
  EXPECT_THAT(encode(rows(plan_->result)).columns, IsEmpty());
  request_.skip_metadata = false;
  EXPECT_EQ(encode(rows(plan_->result)).columns.size(), 1u);
}

TEST_P(ResponseTest, OtherColumnsThanThoseOfThePlanAreSent) {
  const protocol::RowsResult result = encode(rows(columns("other")));
  ASSERT_EQ(result.columns.size(), 1u);
  EXPECT_EQ(result.columns[0].name, "other");
  EXPECT_EQ(result.new_metadata_id.has_value(), GetParam() == Version::v5);
}

TEST_P(ResponseTest, AClientThatKnowsAnOldIdGetsTheNewColumns) {
  request_.execute.result_metadata_id = "0123456789abcdef";
  const protocol::RowsResult result = encode(rows(plan_->result));
  EXPECT_EQ(result.columns.empty(), GetParam() != Version::v5);
}

TEST_P(ResponseTest, WarningsAreSentFromVersion4) {
  execute::ResultSet result = rows(plan_->result);
  result.warnings = {"careful"};
  encode(result);
  if (GetParam() == Version::v3) {
    EXPECT_THAT(warnings_, IsEmpty());
  } else {
    EXPECT_THAT(warnings_, ElementsAre("careful"));
  }
}

TEST_P(ResponseTest, GuardrailsAreErrorsAndWarnings) {
  struct Case {
    base::ErrorCode code;
    std::string message;
    bool warns;
  };
  const std::vector<Case> cases = {{base::ErrorCode::invalid, "Guardrail tables violated: …", true},
                                   {base::ErrorCode::invalid, "Undefined column", false},
                                   {base::ErrorCode::server, "Guardrail tables", false}};
  for (const Case& one : cases) {
    std::string out;
    append_error(out, format_, 4, protocol::to_message(base::Error(one.code, one.message)), nullptr);
    protocol::Envelope envelope;
    const FrameStep step = parse(out, envelope);
    EXPECT_EQ(step.header.opcode, Opcode::error);
    EXPECT_EQ(envelope.warnings.empty(), !one.warns || GetParam() == Version::v3) << one.message;
    const auto message = protocol::decode_error(step.body, GetParam());
    ASSERT_TRUE(message);
    EXPECT_EQ(message->code, one.code);
    EXPECT_EQ(message->message, one.message);
  }
}

TEST(CheckResultSize, RefusesWhatDoesNotFit) {
  execute::ResultSet result;
  result.rows.add(std::string(1000, 'x'));
  const size_t size = result.rows.bytes().size();
  EXPECT_TRUE(check_result_size(result, size));
  const base::Status status = check_result_size(result, size - 1);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().message(),
            "Result of " + std::to_string(size) + " bytes is too large for one message; use paging");
}

}  // namespace
}  // namespace sibyl::server
