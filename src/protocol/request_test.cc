#include "protocol/request.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "base/test_bytes.h"

namespace sibyl::protocol {
namespace {

using base::hex;
using types::ValueView;

TEST(Request, Startup) {
  Bytes out;
  append_startup(out, {{"CQL_VERSION", "3.0.0"}, {"compression", "lz4"}});
  EXPECT_EQ(base::to_hex(out),
            "0002000b43514c5f56455253494f4e0005332e302e30000b636f6d7072657373696f6e00036c7a34");
  Startup message;
  ASSERT_TRUE(decode_startup(out, message));
  ASSERT_NE(message.find("COMPRESSION"), nullptr);
  EXPECT_EQ(*message.find("COMPRESSION"), "lz4");
  EXPECT_EQ(message.find("NO_COMPACT"), nullptr);
}

TEST(Request, QueryWithEverything) {
  Query query;
  query.text = "SELECT 1";
  query.parameters.consistency = Consistency::quorum;
  query.parameters.serial_consistency = Consistency::local_serial;
  query.parameters.skip_metadata = true;
  query.parameters.values = {ValueView::of("ab"), ValueView::null(), ValueView::unset(), ValueView::of("")};
  query.parameters.page_size = 100;
  query.parameters.paging_state = "pq";
  query.parameters.timestamp_micros = -5;
  Bytes out;
  append_query(out, Version::v4, query);
  EXPECT_EQ(base::to_hex(out),
            "0000000853454c4543542031"
            "00043f0004000000026162fffffffffffffffe00000000"
            "00000064000000027071"
            "0009fffffffffffffffb");
  Query decoded;
  ASSERT_TRUE(decode_query(out, Version::v4, decoded));
  EXPECT_EQ(decoded.text, "SELECT 1");
  const auto& p = decoded.parameters;
  EXPECT_EQ(p.consistency, Consistency::quorum);
  EXPECT_EQ(p.serial_consistency, Consistency::local_serial);
  EXPECT_TRUE(p.skip_metadata);
  ASSERT_EQ(p.values.size(), 4u);
  EXPECT_EQ(p.values[0].bytes, "ab");
  EXPECT_TRUE(p.values[1].is_null());
  EXPECT_TRUE(p.values[2].is_unset());
  EXPECT_TRUE(p.values[3].is_present());
  EXPECT_EQ(p.page_size, 100);
  EXPECT_EQ(p.paging_state, "pq");
  EXPECT_EQ(p.timestamp_micros, -5);
}

TEST(Request, NamedValues) {
  Query query;
  query.text = "x";
  query.parameters.values = {ValueView::of("1"), ValueView::of("2")};
  query.parameters.names = {"a", "b"};
  Bytes out;
  append_query(out, Version::v4, query);
  EXPECT_EQ(base::to_hex(out),
            "000000017800014100020001610000000131000162"
            "0000000132");
  Query decoded;
  ASSERT_TRUE(decode_query(out, Version::v4, decoded));
  EXPECT_EQ(decoded.parameters.names, (std::vector<std::string_view>{"a", "b"}));
}

TEST(Request, DecodingClearsThePreviousMessage) {
  Query first;
  first.text = "x";
  first.parameters.values = {ValueView::of("1")};
  first.parameters.page_size = 3;
  Bytes with, without;
  append_query(with, Version::v4, first);
  Query second;
  second.text = "y";
  append_query(without, Version::v4, second);
  Query decoded;
  ASSERT_TRUE(decode_query(with, Version::v4, decoded));
  ASSERT_TRUE(decode_query(without, Version::v4, decoded));
  EXPECT_TRUE(decoded.parameters.values.empty());
  EXPECT_FALSE(decoded.parameters.page_size);
}

TEST(Request, NegativeLengths) {
  Query decoded;
  // From v4 on, -2 means unset and -3 is an error. Before, -2 is null.
  const Bytes unset =
      hex("0000000178"
          "0001"
          "01"
          "0001"
          "fffffffe");
  ASSERT_TRUE(decode_query(unset, Version::v4, decoded));
  EXPECT_TRUE(decoded.parameters.values[0].is_unset());
  ASSERT_TRUE(decode_query(unset, Version::v3, decoded));
  EXPECT_TRUE(decoded.parameters.values[0].is_null());
  const Bytes less =
      hex("0000000178"
          "0001"
          "01"
          "0001"
          "fffffffd");
  const auto status = decode_query(less, Version::v4, decoded);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code(), base::ErrorCode::protocol);
  EXPECT_EQ(status.error().message(), "Invalid ByteBuf length -3");
  EXPECT_TRUE(decode_query(less, Version::v3, decoded));
  EXPECT_FALSE(decode_query(hex("ffffffff000100"), Version::v4, decoded));
}

TEST(Request, ErrorsHaveCassandrasTexts) {
  Query decoded;
  EXPECT_EQ(decode_query(hex("0000000653454c"), Version::v4, decoded).error().message(),
            "Not enough bytes to read an UTF8 serialized string preceded by its 4 bytes length");
  EXPECT_EQ(decode_query(hex("0000000178006300"), Version::v4, decoded).error().message(),
            "Unknown code 99 for a consistency level");
  EXPECT_EQ(decode_query(hex("00000002fffe000100"), Version::v4, decoded).error().message(),
            "Cannot decode string as UTF8: 'fffe'");
  EXPECT_EQ(decode_query(hex("0000000178000120"
                             "8000000000000000"),
                         Version::v4, decoded)
                .error()
                .message(),
            "Out of bound timestamp, must be in [-9223372036854775807, 9223372036854775807] (got "
            "-9223372036854775808)");
}

TEST(Request, Prepare) {
  Bytes out;
  append_prepare(out, Version::v4, {"SELECT", std::nullopt});
  EXPECT_EQ(base::to_hex(out), "0000000653454c454354");
  Prepare decoded;
  ASSERT_TRUE(decode_prepare(out, Version::v4, decoded));
  EXPECT_EQ(decoded.text, "SELECT");
  Bytes five;
  append_prepare(five, Version::v5, {"SELECT", "ks"});
  EXPECT_EQ(base::to_hex(five), "0000000653454c4543540000000100026b73");
  ASSERT_TRUE(decode_prepare(five, Version::v5, decoded));
  EXPECT_EQ(decoded.keyspace, "ks");
}

TEST(Request, Execute) {
  Execute message;
  message.id = "abcd";
  message.parameters.values = {ValueView::of("v")};
  message.parameters.skip_metadata = true;
  Bytes out;
  append_execute(out, Version::v4, message);
  EXPECT_EQ(base::to_hex(out), "00046162636400010300010000000176");
  Execute decoded;
  ASSERT_TRUE(decode_execute(out, Version::v4, decoded));
  EXPECT_EQ(decoded.id, "abcd");
  EXPECT_EQ(decoded.parameters.values[0].bytes, "v");
  for (size_t size = 0; size < out.size(); ++size)
    EXPECT_FALSE(decode_execute(BytesView(out).substr(0, size), Version::v4, decoded)) << size;
}

TEST(Request, BatchMixesTextsAndIds) {
  Batch message;
  message.kind = Batch::Kind::unlogged;
  message.values = {ValueView::of("a"), ValueView::unset(), ValueView::null()};
  message.statements = {{false, "INSERT", 0, 1}, {true, "id", 1, 2}, {true, "id", 3, 0}};
  message.parameters.timestamp_micros = 7;
  Bytes out;
  append_batch(out, Version::v4, message);
  EXPECT_EQ(base::to_hex(out),
            "010003"
            "0000000006494e5345525400010000000161"
            "01000269640002fffffffeffffffff"
            "01000269640000"
            "0001200000000000000007");
  Batch decoded;
  ASSERT_TRUE(decode_batch(out, Version::v4, decoded));
  EXPECT_EQ(decoded.kind, Batch::Kind::unlogged);
  ASSERT_EQ(decoded.statements.size(), 3u);
  EXPECT_FALSE(decoded.statements[0].is_prepared);
  EXPECT_EQ(decoded.statements[1].text_or_id, "id");
  EXPECT_EQ(decoded.statements[1].first_value, 1u);
  EXPECT_EQ(decoded.statements[1].value_count, 2u);
  EXPECT_TRUE(decoded.values[1].is_unset());
  EXPECT_EQ(decoded.parameters.timestamp_micros, 7);
  for (size_t size = 0; size < out.size(); ++size)
    EXPECT_FALSE(decode_batch(BytesView(out).substr(0, size), Version::v4, decoded)) << size;
}

TEST(Request, BatchErrors) {
  Batch decoded;
  EXPECT_EQ(decode_batch(hex("0500000001"
                             "00"),
                         Version::v4, decoded)
                .error()
                .message(),
            "Invalid BATCH message type 5");
  EXPECT_EQ(decode_batch(hex("00000102"), Version::v4, decoded).error().message(),
            "Invalid query kind in BATCH messages. Must be 0 or 1 but got 2");
}

TEST(Request, RegisterAndAuthResponse) {
  Bytes out;
  append_register(out, {"SCHEMA_CHANGE"});
  EXPECT_EQ(base::to_hex(out), "0001000d534348454d415f4348414e4745");
  EXPECT_EQ(*decode_register(out), std::vector<std::string>{"SCHEMA_CHANGE"});
  EXPECT_FALSE(decode_register(hex("0002000161")));
  Bytes token;
  append_auth_response(token, BytesView("\0u\0p", 4));
  EXPECT_EQ(base::to_hex(token), "0000000400750070");
  EXPECT_EQ(**decode_auth_response(token), BytesView("\0u\0p", 4));
  EXPECT_FALSE(*decode_auth_response(hex("ffffffff")));
  EXPECT_FALSE(decode_auth_response(hex("00000002aa")));
}

TEST(Request, VersionFiveHasWideFlagsKeyspaceAndNow) {
  Query query;
  query.text = "x";
  query.parameters.values = {ValueView::of("1")};
  query.parameters.page_size = 5;
  query.parameters.keyspace = "ks";
  query.parameters.now_seconds = 1'000;
  Bytes out;
  append_query(out, Version::v5, query);
  EXPECT_EQ(base::to_hex(out),
            "0000000178"
            "000100000185"
            "00010000000131"
            "00000005"
            "00026b73"
            "000003e8");
  Query decoded;
  ASSERT_TRUE(decode_query(out, Version::v5, decoded));
  EXPECT_EQ(decoded.parameters.keyspace, "ks");
  EXPECT_EQ(decoded.parameters.now_seconds, 1'000);
  for (size_t size = 0; size < out.size(); ++size)
    EXPECT_FALSE(decode_query(BytesView(out).substr(0, size), Version::v5, decoded)) << size;
  // The smallest number means "not given".
  ASSERT_TRUE(decode_query(hex("0000000178"
                               "000100000100"
                               "80000000"),
                           Version::v5, decoded));
  EXPECT_FALSE(decoded.parameters.now_seconds);
  // Older versions have neither field.
  Bytes four;
  append_query(four, Version::v4, query);
  EXPECT_EQ(base::to_hex(four), "00000001780001050001000000013100000005");
}

TEST(Request, ExecuteOfVersionFiveHasAMetadataId) {
  Execute message;
  message.id = "abcd";
  message.result_metadata_id = "ef";
  message.parameters.skip_metadata = true;
  Bytes out;
  append_execute(out, Version::v5, message);
  EXPECT_EQ(base::to_hex(out),
            "0004616263640002656600010000"
            "0002");
  Execute decoded;
  ASSERT_TRUE(decode_execute(out, Version::v5, decoded));
  EXPECT_EQ(decoded.result_metadata_id, "ef");
  for (size_t size = 0; size < out.size(); ++size)
    EXPECT_FALSE(decode_execute(BytesView(out).substr(0, size), Version::v5, decoded)) << size;
}

TEST(Request, BatchOfVersionFive) {
  Batch message;
  message.statements = {{true, "id", 0, 0}};
  message.parameters.keyspace = "ks";
  message.parameters.now_seconds = -1;
  Bytes out;
  append_batch(out, Version::v5, message);
  EXPECT_EQ(base::to_hex(out),
            "000001"
            "01000269640000"
            "000100000180"
            "00026b73"
            "ffffffff");
  Batch decoded;
  ASSERT_TRUE(decode_batch(out, Version::v5, decoded));
  EXPECT_EQ(decoded.parameters.keyspace, "ks");
  EXPECT_EQ(decoded.parameters.now_seconds, -1);
}

TEST(Request, ParametersRoundTripInEveryVersion) {
  EXPECT_TRUE(
      rc::check([](const std::vector<std::string>& values, int32_t page_size, int64_t timestamp, bool skip) {
        RC_PRE(timestamp != std::numeric_limits<int64_t>::min());
        for (const auto version : {Version::v3, Version::v4, Version::v5}) {
          Execute message;
          message.id = "id";
          message.result_metadata_id = "rid";
          for (const auto& value : values) message.parameters.values.push_back(ValueView::of(value));
          message.parameters.page_size = page_size;
          message.parameters.timestamp_micros = timestamp;
          message.parameters.skip_metadata = skip;
          if (version == Version::v5) message.parameters.keyspace = "ks";
          Bytes out;
          append_execute(out, version, message);
          Execute decoded;
          RC_ASSERT(decode_execute(out, version, decoded).has_value());
          RC_ASSERT(decoded.parameters.values.size() == values.size());
          for (size_t i = 0; i < values.size(); ++i)
            RC_ASSERT(decoded.parameters.values[i].bytes == values[i]);
          RC_ASSERT(decoded.parameters.page_size == page_size);
          RC_ASSERT(decoded.parameters.timestamp_micros == timestamp);
          RC_ASSERT(decoded.parameters.skip_metadata == skip);
          RC_ASSERT(decoded.parameters.keyspace == message.parameters.keyspace);
        }
      }));
}

}  // namespace
}  // namespace sibyl::protocol
