#include "types/keys/key.h"

#include <gtest/gtest.h>

#include <fstream>
#include <limits>
#include <sstream>

#include "base/source_path.h"
#include "base/test_bytes.h"
#include "types/elements.h"
#include "types/keys/key_decode.h"
#include "types/keys/murmur3.h"
#include "types/literals/literal.h"

namespace sibyl::types {
namespace {

using base::hex;

std::string key_hex(const Type& type, BytesView value, bool descending = false) {
  Bytes key;
  encode_key(type, value, descending, key);
  return base::to_hex(key);
}

std::string key_hex(Kind kind, std::string_view literal, bool descending = false) {
  return key_hex(*scalar(kind), from_string(*scalar(kind), literal).value(), descending);
}

// These bytes are on disk: changing them changes the storage format.
TEST(Key, BytesOfScalars) {
  EXPECT_EQ(key_hex(Kind::int_, ""), "00");
  EXPECT_EQ(key_hex(Kind::int_, "1"), "0180000001");
  EXPECT_EQ(key_hex(Kind::int_, "-1"), "017fffffff");
  EXPECT_EQ(key_hex(Kind::int_, "1", true), "fe7ffffffe");
  EXPECT_EQ(key_hex(Kind::tinyint, "-128"), "0100");
  EXPECT_EQ(key_hex(Kind::smallint, "2"), "018002");
  EXPECT_EQ(key_hex(Kind::bigint, "2"), "018000000000000002");
  EXPECT_EQ(key_hex(Kind::timestamp, "2"), "018000000000000002");
  EXPECT_EQ(key_hex(Kind::date, "1970-01-01"), "0180000000");
  EXPECT_EQ(key_hex(Kind::time, "1"), "010000000000000001");
  EXPECT_EQ(key_hex(Kind::boolean, "false"), "01");
  EXPECT_EQ(key_hex(Kind::boolean, "true"), "02");
  EXPECT_EQ(key_hex(Kind::float_, "1"), "01bf800000");
  EXPECT_EQ(key_hex(Kind::float_, "-1"), "01407fffff");
  EXPECT_EQ(key_hex(Kind::float_, "NaN"), "01ffc00000");
  EXPECT_EQ(key_hex(Kind::double_, "-0.0"), "017fffffffffffffff");
  EXPECT_EQ(key_hex(Kind::text, ""), "0001");
  EXPECT_EQ(key_hex(Kind::text, "ab"), "61620001");
  EXPECT_EQ(key_hex(Kind::blob, "610062"), "6100ff620001");
  EXPECT_EQ(key_hex(Kind::inet, "1.0.0.2"), "0100ff00ff020001");
  EXPECT_EQ(key_hex(Kind::text, "ab", true), "9e9dfffe");
  EXPECT_EQ(key_hex(Kind::uuid, "12345678-9abc-4def-8123-456789abcdef"),
            "014123456789abcdef8123456789abcdef");
  EXPECT_EQ(key_hex(Kind::uuid, "12345678-9abc-1def-8123-456789abcdef"),
            "011def9abc123456788123456789abcdef");
  EXPECT_EQ(key_hex(Kind::timeuuid, "12345678-9abc-1def-8123-456789abcdef"),
            "011def9abc1234567801a3c5e7092b4d6f");
}

TEST(Key, BytesOfUnboundedNumbers) {
  EXPECT_EQ(key_hex(Kind::varint, ""), "00");
  EXPECT_EQ(key_hex(Kind::varint, "0"), "8100");
  EXPECT_EQ(key_hex(Kind::varint, "-1"), "7fff");
  EXPECT_EQ(key_hex(Kind::varint, "256"), "820100");
  EXPECT_EQ(key_hex(*scalar(Kind::varint), hex("000001")), "8101");
  const std::string long_number = key_hex(*scalar(Kind::varint), hex("01") + Bytes(200, '\0'));
  EXPECT_EQ(long_number.substr(0, 12), "f8000000c901");
  EXPECT_EQ(key_hex(*scalar(Kind::varint), hex("80") + Bytes(200, '\0')).substr(0, 12), "08ffffff3680");
  EXPECT_EQ(key_hex(Kind::decimal, ""), "00");
  EXPECT_EQ(key_hex(Kind::decimal, "0.00"), "02");
  EXPECT_EQ(key_hex(Kind::decimal, "1"), "03810b00");
  EXPECT_EQ(key_hex(Kind::decimal, "12.30"), "03820d1f00");
  EXPECT_EQ(key_hex(Kind::decimal, "-12.3"), "017df2e0ff");
  EXPECT_EQ(key_hex(Kind::decimal, "1e200"), "03e1c90b00");
  EXPECT_EQ(key_hex(Kind::decimal, "1e-200"), "031f380b00");
  EXPECT_EQ(key_hex(Kind::decimal, "1e2147483647"), "03e4800000000b00");
}

TEST(Key, BytesOfNestedTypes) {
  const TypePtr list = list_of(scalar(Kind::text), true);
  EXPECT_EQ(key_hex(*list, join(*list, {})), "0100");
  EXPECT_EQ(key_hex(*list, join(*list, {BytesView("a"), BytesView("")})),
            "0102610001"
            "020001"
            "00");
  const TypePtr map = map_of(scalar(Kind::text), scalar(Kind::int_), true);
  EXPECT_EQ(key_hex(*map, join(*map, {BytesView("a"), BytesView(encode_int32(1))})),
            "0102610001"
            "020180000001"
            "00");
  const TypePtr tuple = tuple_of({scalar(Kind::int_), scalar(Kind::text), scalar(Kind::int_)});
  EXPECT_EQ(key_hex(*tuple, ""), "00");
  EXPECT_EQ(key_hex(*tuple, join(*tuple, {std::nullopt, BytesView("a"), std::nullopt})),
            "01"
            "01"
            "02610001"
            "00");
  const TypePtr vector = vector_of(scalar(Kind::int_), 2);
  EXPECT_EQ(key_hex(*vector, encode_int32(1) + encode_int32(2)),
            "01"
            "0180000001"
            "0180000002");
}

TEST(Key, InvalidBytesSortAfterAllValues) {
  EXPECT_EQ(key_hex(*scalar(Kind::int_), "abc"), "046162630001");
  EXPECT_EQ(key_hex(*scalar(Kind::decimal), "abc"), "046162630001");
  EXPECT_EQ(key_hex(*list_of(scalar(Kind::int_), true), "abc"), "046162630001");
}

TEST(Key, LossyTypes) {
  for (const Kind kind : {Kind::text, Kind::blob, Kind::int_, Kind::bigint, Kind::uuid, Kind::timeuuid,
                          Kind::timestamp, Kind::inet, Kind::date, Kind::time, Kind::ascii})
    EXPECT_FALSE(key_is_lossy(*scalar(kind)));
  for (const Kind kind : {Kind::decimal, Kind::varint, Kind::float_, Kind::double_, Kind::boolean})
    EXPECT_TRUE(key_is_lossy(*scalar(kind)));
  EXPECT_FALSE(key_is_lossy(*list_of(scalar(Kind::int_), true)));
  EXPECT_TRUE(key_is_lossy(*list_of(scalar(Kind::decimal), true)));
  EXPECT_TRUE(key_is_lossy(*tuple_of({scalar(Kind::int_)})));
}

TEST(Key, CanonicalValues) {
  const auto canonical = [](Kind kind, std::string_view literal) {
    Bytes key;
    encode_key(*scalar(kind), from_string(*scalar(kind), literal).value(), false, key);
    BytesView rest = key;
    return decode_key(*scalar(kind), false, rest).value();
  };
  const auto value = [](Kind kind, std::string_view literal) {
    return from_string(*scalar(kind), literal).value();
  };
  EXPECT_EQ(canonical(Kind::decimal, "1.00"), value(Kind::decimal, "1"));
  EXPECT_EQ(canonical(Kind::decimal, "100"), value(Kind::decimal, "100"));
  EXPECT_EQ(canonical(Kind::decimal, "1e2"), value(Kind::decimal, "100"));
  EXPECT_EQ(canonical(Kind::decimal, "-0.50"), value(Kind::decimal, "-0.5"));
  EXPECT_EQ(canonical(Kind::decimal, "1e100"), value(Kind::decimal, "1e100"));
  // At the limit of the exponent, a zero is left in the digits.
  Bytes key;
  encode_key(*scalar(Kind::decimal), hex("800000000a"), false, key);
  BytesView rest = key;
  EXPECT_EQ(decode_key(*scalar(Kind::decimal), false, rest).value(), hex("800000000a"));
}

TEST(Key, BrokenKeysAreErrors) {
  const auto broken = [](const Type& type, std::string_view digits) {
    const Bytes key = hex(digits);
    BytesView rest = key;
    return !decode_key(type, false, rest).has_value() && rest == key;
  };
  EXPECT_TRUE(broken(*scalar(Kind::int_), ""));
  EXPECT_TRUE(broken(*scalar(Kind::int_), "01000000"));
  EXPECT_TRUE(broken(*scalar(Kind::int_), "02"));
  EXPECT_TRUE(broken(*scalar(Kind::text), "6161"));
  EXPECT_TRUE(broken(*scalar(Kind::text), "6100"));
  EXPECT_TRUE(broken(*scalar(Kind::text), "610002"));
  EXPECT_TRUE(broken(*scalar(Kind::boolean), "03"));
  EXPECT_TRUE(broken(*scalar(Kind::uuid), "0100"));
  EXPECT_TRUE(broken(*scalar(Kind::varint), "80"));
  EXPECT_TRUE(broken(*scalar(Kind::varint), "f8ffffffff00"));
  EXPECT_TRUE(broken(*scalar(Kind::decimal), "0381"));
  EXPECT_TRUE(broken(*scalar(Kind::decimal), "038100"));    // no digits
  EXPECT_TRUE(broken(*scalar(Kind::decimal), "03810100"));  // a leading zero
  EXPECT_TRUE(broken(*scalar(Kind::decimal), "0381ff00"));  // this byte is not a pair of digits
  EXPECT_TRUE(broken(*scalar(Kind::decimal), "03e8ffffffffffffffff0b00"));
  // Without the check, this would need a gigabyte of zeros.
  EXPECT_TRUE(broken(*scalar(Kind::decimal), "03e5ffffffffff0b00"));
  EXPECT_TRUE(broken(*list_of(scalar(Kind::int_), true), "0102"));
  EXPECT_TRUE(broken(*list_of(scalar(Kind::int_), true), "0103"));
  EXPECT_TRUE(broken(*map_of(scalar(Kind::text), scalar(Kind::text), true),
                     "010200010"
                     "0"));
  EXPECT_TRUE(broken(*tuple_of({scalar(Kind::int_)}), "010200020000"));
  EXPECT_TRUE(broken(*vector_of(scalar(Kind::int_), 2), "010180000001"));
}

TEST(Key, PartitionKeys) {
  EXPECT_EQ(serialise_partition_key({"abc"}), "abc");
  const Bytes composite = serialise_partition_key({"ab", "", "c"});
  EXPECT_EQ(base::to_hex(composite), "000261620000000000016300");
  EXPECT_EQ(split_partition_key(composite, 3).value(), (std::vector<Bytes>{"ab", "", "c"}));
  EXPECT_EQ(split_partition_key("abc", 1).value(), std::vector<Bytes>{"abc"});
  EXPECT_FALSE(split_partition_key(composite, 2).has_value());
  EXPECT_FALSE(split_partition_key(composite, 4).has_value());
  EXPECT_FALSE(split_partition_key("\1", 2).has_value());
}

TEST(Token, BytesSortAsNumbers) {
  const int64_t tokens[] = {std::numeric_limits<int64_t>::min(), -1, 0, 1,
                            std::numeric_limits<int64_t>::max()};
  Bytes previous;
  for (const int64_t token : tokens) {
    Bytes bytes;
    encode_token(token, bytes);
    EXPECT_EQ(bytes.size(), 8u);
    EXPECT_EQ(decode_token(bytes), token);
    EXPECT_LT(previous, bytes);
    previous = bytes;
  }
}

TEST(Token, MatchesCassandraOnRecordedKeys) {
  std::ifstream file(base::source_path("tests/data/murmur3_tokens.txt"));
  ASSERT_TRUE(file.is_open());
  std::string line;
  int checked = 0;
  while (std::getline(file, line)) {
    if (line.starts_with('#')) continue;
    std::istringstream fields(line);
    std::string key;
    int64_t token = 0;
    ASSERT_TRUE(fields >> key >> token) << line;
    EXPECT_EQ(murmur3_token(hex(key)), token) << key;
    ++checked;
  }
  EXPECT_GE(checked, 200);
  EXPECT_EQ(murmur3_token(""), std::numeric_limits<int64_t>::min());
}

}  // namespace
}  // namespace sibyl::types
