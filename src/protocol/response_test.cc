#include "protocol/response.h"

#include <gtest/gtest.h>

#include "base/test_bytes.h"
#include "protocol/error_message.h"
#include "protocol/type_option.h"

namespace sibyl::protocol {
namespace {

using base::hex;
using types::Kind;
using types::TypePtr;

// Every proper prefix of a body must be an error, never a crash.
template <typename Decode>
void expect_prefixes_fail(const Bytes& body, Decode decode) {
  for (size_t size = 0; size < body.size(); ++size)
    EXPECT_FALSE(decode(BytesView(body).substr(0, size))) << size << " of " << body.size();
}

const TypePtr int_type = types::scalar(Kind::int_);
const TypePtr text_type = types::scalar(Kind::text);
const TypePtr duration_type = types::scalar(Kind::duration);
const TypePtr vector_type = types::vector_of(types::scalar(Kind::float_), 3);
const TypePtr map_type = types::map_of(text_type, types::list_of(int_type, true), false);
const TypePtr date_type = types::scalar(Kind::date);

// Recorded from Cassandra 5.0: SELECT * FROM proto_ks.t WHERE k=? AND c=?, prepared under v4 and under v3.
const std::string_view recorded_prepared_v4 =
    "000000040010cca5819d60438637f3333669ee3d9c630000000100000002000000010000000870726f746f5f6b7300017400016b"
    "00090001"
    "63000d0000000100000006000870726f746f5f6b7300017400016b0009000163000d0001640000002c6f72672e6170616368652e"
    "63617373"
    "616e6472612e64622e6d61727368616c2e4475726174696f6e5479706500026474001100016d0021000d00200009000276760000"
    "00596f72"
    "672e6170616368652e63617373616e6472612e64622e6d61727368616c2e566563746f7254797065286f72672e6170616368652e"
    "63617373"
    "616e6472612e64622e6d61727368616c2e466c6f617454797065202c203329";
const std::string_view recorded_prepared_v3 =
    "000000040010cca5819d60438637f3333669ee3d9c630000000100000002000870726f746f5f6b7300017400016b000900016300"
    "0d000000"
    "0100000006000870726f746f5f6b7300017400016b0009000163000d0001640000002c6f72672e6170616368652e63617373616e"
    "6472612e"
    "64622e6d61727368616c2e4475726174696f6e54797065000264740000002e6f72672e6170616368652e63617373616e6472612e"
    "64622e6d"
    "61727368616c2e53696d706c65446174655479706500016d0021000d0020000900027676000000596f72672e6170616368652e63"
    "61737361"
    "6e6472612e64622e6d61727368616c2e566563746f7254797065286f72672e6170616368652e63617373616e6472612e64622e6d"
    "61727368"
    "616c2e466c6f617454797065202c203329";

PreparedHeader recorded_header(const std::vector<ColumnView>& markers, const std::vector<ColumnView>& result,
                               const Bytes& id) {
  static const std::vector<uint16_t> keys = {0};
  PreparedHeader header;
  header.id = id;
  header.markers = markers;
  header.partition_key_markers = keys;
  header.result = result;
  return header;
}

TEST(Response, PreparedMatchesRecordedBytes) {
  const std::vector<ColumnView> markers = {{"proto_ks", "t", "k", int_type.get()},
                                           {"proto_ks", "t", "c", text_type.get()}};
  const std::vector<ColumnView> result = {
      {"proto_ks", "t", "k", int_type.get()},      {"proto_ks", "t", "c", text_type.get()},
      {"proto_ks", "t", "d", duration_type.get()}, {"proto_ks", "t", "dt", date_type.get()},
      {"proto_ks", "t", "m", map_type.get()},      {"proto_ks", "t", "vv", vector_type.get()}};
  const Bytes id = hex("cca5819d60438637f3333669ee3d9c63");
  Bytes four, three;
  append_prepared_result(four, Version::v4, recorded_header(markers, result, id));
  EXPECT_EQ(base::to_hex(four), recorded_prepared_v4);
  append_prepared_result(three, Version::v3, recorded_header(markers, result, id));
  EXPECT_EQ(base::to_hex(three), recorded_prepared_v3);
  expect_prefixes_fail(four, [](BytesView body) { return decode_result(body, Version::v4); });
}

TEST(Response, PreparedDecodesInEveryVersion) {
  for (const auto& [version, recorded] :
       {std::pair{Version::v4, recorded_prepared_v4}, std::pair{Version::v3, recorded_prepared_v3}}) {
    const auto decoded = decode_result(hex(recorded), version);
    ASSERT_TRUE(decoded) << decoded.error().message();
    const auto& prepared = std::get<PreparedResult>(*decoded);
    ASSERT_EQ(prepared.markers.size(), 2u);
    ASSERT_EQ(prepared.result.size(), 6u);
    EXPECT_EQ(prepared.result[2].type->kind(), Kind::duration);
    EXPECT_EQ(prepared.result[3].type->kind(), Kind::date);
    EXPECT_EQ(*prepared.result[5].type, *vector_type);
    EXPECT_EQ(prepared.partition_key_markers.size(), version == Version::v4 ? 1u : 0u);
  }
}

TEST(Response, PreparedWriteHasNoResultMetadata) {
  const std::vector<ColumnView> markers = {{"proto_ks", "t", "k", int_type.get()},
                                           {"proto_ks", "t", "c", text_type.get()},
                                           {"proto_ks", "t", "d", duration_type.get()}};
  Bytes out;
  append_prepared_result(out, Version::v4,
                         recorded_header(markers, {}, hex("e221c9e584a9a2e5ded0a830136a6489")));
  EXPECT_EQ(base::to_hex(out),
            "000000040010e221c9e584a9a2e5ded0a830136a64890000000100000003000000010000000870726f746f5f6b730001"
            "7400016b00"
            "09000163000d0001640000002c6f72672e6170616368652e63617373616e6472612e64622e6d61727368616c2e447572"
            "6174696f6e"
            "547970650000000400000000");
}

// Recorded from Cassandra 5.0 under v5: SELECT * FROM v5probe.t WHERE k=? prepared, and executed with another
// metadata id.
TEST(Response, PreparedOfVersionFiveMatchesRecordedBytes) {
  const std::vector<ColumnView> markers = {{"v5probe", "t", "k", int_type.get()}};
  const std::vector<ColumnView> result = {{"v5probe", "t", "k", int_type.get()},
                                          {"v5probe", "t", "v", text_type.get()}};
  const Bytes metadata_id = hex("20b7fe8510d99228eec24d9ecd5a2ff1");
  const Bytes id = hex("5ada76b737f63e8513d4910141f5f18e");
  PreparedHeader header = recorded_header(markers, result, id);
  header.result_metadata_id = metadata_id;
  Bytes out;
  append_prepared_result(out, Version::v5, header);
  EXPECT_EQ(base::to_hex(out),
            "0000000400105ada76b737f63e8513d4910141f5f18e001020b7fe8510d99228eec24d9ecd5a2ff1"
            "0000000100000001000000010000"
            "0007763570726f6265000174"
            "00016b0009"
            "0000000100000002"
            "0007763570726f6265000174"
            "00016b0009000176000d");
  const auto decoded = decode_result(out, Version::v5);
  ASSERT_TRUE(decoded);
  EXPECT_EQ(std::get<PreparedResult>(*decoded).result_metadata_id, metadata_id);
  expect_prefixes_fail(out, [](BytesView body) { return decode_result(body, Version::v5); });
}

TEST(Response, ChangedMetadataMatchesRecordedBytes) {
  const std::vector<ColumnView> columns = {{"v5probe", "t", "k", int_type.get()},
                                           {"v5probe", "t", "v", text_type.get()}};
  const Bytes metadata_id = hex("20b7fe8510d99228eec24d9ecd5a2ff1");
  RowsHeader header;
  header.columns = columns;
  header.new_metadata_id = metadata_id;
  Bytes out;
  append_rows_header(out, Version::v5, header);
  EXPECT_EQ(base::to_hex(out),
            "00000002"
            "0000000900000002"
            "001020b7fe8510d99228eec24d9ecd5a2ff1"
            "0007763570726f6265000174"
            "00016b0009000176000d"
            "00000000");
  const auto decoded = decode_result(out, Version::v5);
  ASSERT_TRUE(decoded);
  EXPECT_EQ(std::get<RowsResult>(*decoded).new_metadata_id, metadata_id);
  // With a paging state, the state comes first.
  header.paging_state = "pq";
  Bytes paged;
  append_rows_header(paged, Version::v5, header);
  EXPECT_EQ(base::to_hex(paged.substr(0, 36)),
            "00000002"
            "0000000b00000002"
            "000000027071"
            "001020b7fe8510d99228eec24d9ecd5a2ff1");
}

TEST(Response, MarkersOfSeveralTablesGiveNoPartitionKey) {
  const std::vector<ColumnView> markers = {{"ks", "a", "k", int_type.get()},
                                           {"ks", "b", "k", int_type.get()}};
  Bytes out;
  append_prepared_result(out, Version::v4, recorded_header(markers, {}, "id"));
  const auto decoded = decode_result(out, Version::v4);
  ASSERT_TRUE(decoded);
  const auto& prepared = std::get<PreparedResult>(*decoded);
  EXPECT_TRUE(prepared.partition_key_markers.empty());
  EXPECT_EQ(prepared.markers[1].table, "b");
}

TEST(Response, EmptyRowsMatchRecordedBytes) {
  const std::vector<ColumnView> columns = {{"proto_ks", "t", "k", int_type.get()},
                                           {"proto_ks", "t", "c", text_type.get()}};
  Bytes out;
  RowsHeader header;
  header.columns = columns;
  append_rows_header(out, Version::v4, header);
  EXPECT_EQ(base::to_hex(out),
            "000000020000000100000002000870726f746f5f6b7300017400016b0009000163000d00000000");
}

TEST(Response, RowsWithPagingAndSkippedMetadata) {
  const std::vector<ColumnView> columns = {{"ks", "t", "k", int_type.get()},
                                           {"ks", "u", "v", text_type.get()}};
  RowsHeader header;
  header.columns = columns;
  header.paging_state = "next";
  header.row_count = 2;
  const Bytes rows =
      hex("0000000400000001"
          "ffffffff"
          "0000000400000002"
          "00000000");
  Bytes full;
  append_rows_header(full, Version::v4, header);
  full += rows;
  auto decoded = decode_result(full, Version::v4);
  ASSERT_TRUE(decoded) << decoded.error().message();
  const auto& result = std::get<RowsResult>(*decoded);
  EXPECT_EQ(result.columns.at(1).table, "u");
  EXPECT_EQ(result.paging_state, "next");
  EXPECT_EQ(result.row_count, 2u);
  EXPECT_EQ(result.rows, rows);
  expect_prefixes_fail(full, [](BytesView body) { return decode_result(body, Version::v4); });

  header.skip_metadata = true;
  header.paging_state.reset();
  Bytes skipped;
  append_rows_header(skipped, Version::v4, header);
  EXPECT_EQ(base::to_hex(skipped), "00000002000000040000000200000002");
}

TEST(Response, RowCountsAreChecked) {
  EXPECT_FALSE(decode_result(hex("0000000200000004000000007fffffff"), Version::v4));
  EXPECT_FALSE(decode_result(hex("00000002000000040000000100000005"
                                 "ffffffff"),
                             Version::v4));
  EXPECT_FALSE(decode_result(hex("000000020000000480000000"
                                 "00000000"),
                             Version::v4));
}

TEST(Response, SmallResults) {
  Bytes out;
  append_void_result(out);
  EXPECT_EQ(base::to_hex(out), "00000001");
  EXPECT_TRUE(std::holds_alternative<VoidResult>(*decode_result(out, Version::v4)));
  out.clear();
  append_set_keyspace_result(out, "proto_ks");
  EXPECT_EQ(base::to_hex(out), "00000003000870726f746f5f6b73");
  EXPECT_EQ(std::get<SetKeyspaceResult>(*decode_result(out, Version::v4)).keyspace, "proto_ks");
  EXPECT_FALSE(decode_result(hex("00000009"), Version::v4));
}

TEST(Response, SchemaChangesMatchRecordedBytes) {
  Bytes out;
  append_schema_change_result(
      out, Version::v4, {SchemaChange::Kind::created, SchemaChange::Target::table, "proto_ks", "t", {}});
  EXPECT_EQ(base::to_hex(out), "0000000500074352454154454400055441424c45000870726f746f5f6b73000174");
  out.clear();
  append_schema_change_result(
      out, Version::v4, {SchemaChange::Kind::dropped, SchemaChange::Target::keyspace, "proto_ks", "", {}});
  EXPECT_EQ(base::to_hex(out), "00000005000744524f5050454400084b45595350414345000870726f746f5f6b73");
  const auto decoded = decode_result(out, Version::v4);
  ASSERT_TRUE(decoded);
  EXPECT_EQ(std::get<SchemaChange>(*decoded).kind, SchemaChange::Kind::dropped);
}

TEST(Response, FunctionEventsAreKeyspaceUpdatesBeforeVersionFour) {
  const SchemaChange change{
      SchemaChange::Kind::dropped, SchemaChange::Target::function, "ks", "f", {"int", "text"}};
  Bytes four, three;
  append_event(four, Version::v4, change);
  append_event(three, Version::v3, change);
  const auto modern = std::get<SchemaChange>(*decode_event(four, Version::v4));
  EXPECT_EQ(modern.name, "f");
  EXPECT_EQ(modern.argument_types, (std::vector<std::string>{"int", "text"}));
  const auto old = std::get<SchemaChange>(*decode_event(three, Version::v3));
  EXPECT_EQ(old.kind, SchemaChange::Kind::updated);
  EXPECT_EQ(old.target, SchemaChange::Target::keyspace);
  expect_prefixes_fail(four, [](BytesView body) { return decode_event(body, Version::v4); });
}

TEST(Response, NodeEvents) {
  Bytes out;
  append_event(out, Version::v4, NodeChange{"STATUS_CHANGE", "UP", hex("7f000001"), 9042});
  EXPECT_EQ(base::to_hex(out), "000d5354415455535f4348414e474500025550047f00000100002352");
  const auto node = std::get<NodeChange>(*decode_event(out, Version::v4));
  EXPECT_EQ(node.change, "UP");
  EXPECT_EQ(node.port, 9042);
  EXPECT_FALSE(decode_event(hex("000161"), Version::v4));
}

TEST(Response, SupportedAndAuthentication) {
  Bytes out;
  append_supported(out, {{"COMPRESSION", {"snappy", "lz4"}}, {"CQL_VERSION", {"3.4.7"}}});
  EXPECT_EQ(base::to_hex(out),
            "0002000b434f4d5052455353494f4e00020006736e6170707900036c7a34000b43514c5f56455253494f4e0001000533"
            "2e342e37");
  EXPECT_EQ((*decode_supported(out))[0].second, (std::vector<std::string>{"snappy", "lz4"}));
  Bytes name;
  append_authenticate(name, "org.x");
  EXPECT_EQ(*decode_authenticate(name), "org.x");
  Bytes token;
  append_auth_token(token, std::nullopt);
  EXPECT_EQ(base::to_hex(token), "ffffffff");
  EXPECT_FALSE(*decode_auth_token(token));
}

TEST(Error, BodiesOfEveryCode) {
  ErrorMessage message;
  message.message = "m";
  message.consistency = Consistency::quorum;
  message.received = 1;
  message.required = 2;
  message.failures = 3;
  message.data_present = true;
  message.keyspace = "k";
  message.name = "t";
  message.argument_types = {"int"};
  message.statement_id = "id";
  const std::vector<std::pair<base::ErrorCode, std::string>> bodies = {
      {base::ErrorCode::server, ""},
      {base::ErrorCode::protocol, ""},
      {base::ErrorCode::bad_credentials, ""},
      {base::ErrorCode::unavailable, "00040000000200000001"},
      {base::ErrorCode::overloaded, ""},
      {base::ErrorCode::bootstrapping, ""},
      {base::ErrorCode::truncate, ""},
      {base::ErrorCode::write_timeout, "00040000000100000002000653494d504c45"},
      {base::ErrorCode::read_timeout, "0004000000010000000201"},
      {base::ErrorCode::read_failure, "000400000001000000020000000301"},
      {base::ErrorCode::function_failure, "00016b00017400010003696e74"},
      {base::ErrorCode::write_failure, "0004000000010000000200000003000653494d504c45"},
      {base::ErrorCode::cdc_write_failure, ""},
      {base::ErrorCode::syntax, ""},
      {base::ErrorCode::unauthorized, ""},
      {base::ErrorCode::invalid, ""},
      {base::ErrorCode::config, ""},
      {base::ErrorCode::already_exists, "00016b000174"},
      {base::ErrorCode::unprepared, "00026964"},
  };
  for (const auto& [code, tail] : bodies) {
    message.code = code;
    Bytes out;
    append_error(out, Version::v4, message);
    Bytes expected;
    append_int(expected, static_cast<int32_t>(code));
    append_string(expected, "m");
    EXPECT_EQ(base::to_hex(out), base::to_hex(expected) + tail);
    const auto decoded = decode_error(out, Version::v4);
    ASSERT_TRUE(decoded);
    EXPECT_EQ(decoded->code, code);
    expect_prefixes_fail(out, [](BytesView body) { return decode_error(body, Version::v4); });
  }
  EXPECT_FALSE(decode_error(hex("000099990000"), Version::v4));
}

TEST(Error, BodiesThatVersionFiveChanged) {
  ErrorMessage message;
  message.message = "m";
  message.consistency = Consistency::serial;
  message.received = 1;
  message.required = 2;
  message.failure_reasons = {{hex("7f000001"), 1}, {hex("20010db8000000000000000000000001"), 0}};
  message.contentions = 7;
  message.write_type = "CAS";
  const std::string reasons =
      "00000002"
      "047f0000010001"
      "1020010db80000000000000000000000010000";
  const std::vector<std::pair<base::ErrorCode, std::string>> bodies = {
      {base::ErrorCode::read_failure, "00080000000100000002" + reasons + "00"},
      {base::ErrorCode::write_failure, "00080000000100000002" + reasons + "0003434153"},
      {base::ErrorCode::write_timeout,
       "000800000001000000020003434153"
       "0007"},
      {base::ErrorCode::cas_write_unknown, "00080000000100000002"},
  };
  for (const auto& [code, tail] : bodies) {
    message.code = code;
    Bytes out;
    append_error(out, Version::v5, message);
    Bytes expected;
    append_int(expected, static_cast<int32_t>(code));
    append_string(expected, "m");
    EXPECT_EQ(base::to_hex(out), base::to_hex(expected) + tail);
    const auto decoded = decode_error(out, Version::v5);
    ASSERT_TRUE(decoded);
    EXPECT_EQ(decoded->code, code);
    if (code == base::ErrorCode::read_failure) {
      EXPECT_EQ(decoded->failure_reasons, message.failure_reasons);
    }
    if (code == base::ErrorCode::write_timeout) {
      EXPECT_EQ(decoded->contentions, 7);
    }
    expect_prefixes_fail(out, [](BytesView body) { return decode_error(body, Version::v5); });
  }
}

TEST(Error, AreTranslatedForOlderVersions) {
  const auto code_sent = [](base::ErrorCode code, Version version) {
    ErrorMessage message;
    message.code = code;
    Bytes out;
    append_error(out, version, message);
    return decode_error(out, version)->code;
  };
  EXPECT_EQ(code_sent(base::ErrorCode::read_failure, Version::v3), base::ErrorCode::read_timeout);
  EXPECT_EQ(code_sent(base::ErrorCode::write_failure, Version::v3), base::ErrorCode::write_timeout);
  EXPECT_EQ(code_sent(base::ErrorCode::function_failure, Version::v3), base::ErrorCode::invalid);
  EXPECT_EQ(code_sent(base::ErrorCode::cas_write_unknown, Version::v4), base::ErrorCode::write_timeout);
  EXPECT_EQ(code_sent(base::ErrorCode::cas_write_unknown, Version::v5), base::ErrorCode::cas_write_unknown);
}

TEST(Error, CarriesTheExistingNameAndTheUnknownId) {
  base::ErrorDetails details;
  details.code = base::ErrorCode::already_exists;
  details.message = "Cannot add already existing table \"t\" to keyspace \"proto_ks\"";
  details.keyspace = "proto_ks";
  details.table = "t";
  Bytes out;
  append_error(out, Version::v4, to_message(base::Error(details)));
  EXPECT_EQ(base::to_hex(out),
            "00002400003c43616e6e6f742061646420616c7265616479206578697374696e67207461626c652022742220746f206b"
            "6579737061"
            "6365202270726f746f5f6b7322000870726f746f5f6b73000174");
  EXPECT_EQ(to_error(*decode_error(out, Version::v4)).details().table, "t");
}

TEST(TypeOption, RoundTripsEveryType) {
  std::vector<TypePtr> all;
  for (uint16_t id = 1; id <= 0x15; ++id)
    if (id != 0x0A) all.push_back(types::scalar(static_cast<Kind>(id)));
  all.push_back(types::list_of(int_type, true));
  all.push_back(types::set_of(duration_type, true));
  all.push_back(types::map_of(text_type, types::set_of(int_type, true), true));
  all.push_back(types::tuple_of({int_type, text_type, types::tuple_of({date_type})}));
  all.push_back(
      types::udt_of("ks", "Address", {"street", "n"}, {text_type, types::list_of(int_type, true)}, true));
  all.push_back(vector_type);
  all.push_back(types::vector_of(types::vector_of(types::scalar(Kind::double_), 2), 16));
  all.push_back(types::vector_of(types::udt_of("ks", "u", {"f"}, {int_type}, true), 2));
  all.push_back(types::custom_of("com.example.Thing"));
  for (const auto& type : all) {
    for (const auto version : {Version::v3, Version::v4, Version::v5}) {
      Bytes out;
      append_type(out, version, *type);
      WireReader reader(out);
      const TypePtr decoded = read_type(reader, version);
      ASSERT_TRUE(decoded) << type->cql_name();
      EXPECT_TRUE(reader.at_end());
      EXPECT_EQ(*decoded, *type) << type->cql_name() << " became " << decoded->cql_name();
    }
  }
}

TEST(TypeOption, DeepAndUnknownTypesFail) {
  Bytes deep;
  for (int i = 0; i < 100'000; ++i) append_short(deep, 0x20);
  WireReader reader(deep);
  EXPECT_EQ(read_type(reader, Version::v4), nullptr);
  EXPECT_FALSE(reader.ok());
  const Bytes unknown_bytes = hex("0016");
  WireReader unknown(unknown_bytes);
  EXPECT_EQ(read_type(unknown, Version::v4), nullptr);
  EXPECT_FALSE(unknown.ok());
  std::string nested;
  for (int i = 0; i < 10'000; ++i) nested += "ListType(";
  EXPECT_EQ(type_by_class_name(nested), nullptr);
  EXPECT_EQ(type_by_class_name("VectorType(FloatType, 0)"), nullptr);
  EXPECT_EQ(type_by_class_name("Int32Type)"), nullptr);
}

}  // namespace
}  // namespace sibyl::protocol
