#include "types/value.h"

#include <gtest/gtest.h>

#include <limits>
#include <set>
#include <thread>

#include "base/test_bytes.h"
#include "types/compare.h"
#include "types/elements.h"
#include "types/literals/literal.h"
#include "types/number.h"
#include "types/uuid.h"
#include "types/validate.h"
#include "types/vint.h"

namespace sibyl::types {
namespace {

using base::hex;
using namespace std::string_literals;

Bytes value_from(Kind kind, std::string_view text) {
  return from_string(*scalar(kind), text).value();
}

std::string refusal(const Type& type, BytesView bytes) {
  const base::Status status = validate(type, bytes);
  return status ? "valid" : status.error().message();
}

// --- Scalars

TEST(Value, ScalarBytes) {
  EXPECT_EQ(encode_int32(-2), hex("fffffffe"));
  EXPECT_EQ(encode_int16(-2), hex("fffe"));
  EXPECT_EQ(encode_int8(-2), hex("fe"));
  EXPECT_EQ(encode_int64(1), hex("0000000000000001"));
  EXPECT_EQ(encode_float(1), hex("3f800000"));
  EXPECT_EQ(encode_double(1), hex("3ff0000000000000"));
  EXPECT_EQ(encode_date(0), hex("80000000"));
  EXPECT_EQ(encode_date(-1), hex("7fffffff"));
  EXPECT_EQ(encode_boolean(true), hex("01"));
  EXPECT_EQ(decode_integer(Kind::tinyint, hex("80")), -128);
  EXPECT_EQ(decode_integer(Kind::smallint, hex("8000")), -32768);
  EXPECT_EQ(decode_integer(Kind::int_, hex("80000000")), std::numeric_limits<int32_t>::min());
  EXPECT_EQ(decode_integer(Kind::time, hex("8000000000000000")), std::numeric_limits<int64_t>::min());
  EXPECT_EQ(decode_date(hex("00000000")), std::numeric_limits<int32_t>::min());
  EXPECT_TRUE(decode_boolean(hex("05")));
}

TEST(Value, VarintBytes) {
  const std::pair<const char*, const char*> cases[] = {{"0", "00"},
                                                       {"1", "01"},
                                                       {"-1", "ff"},
                                                       {"127", "7f"},
                                                       {"128", "0080"},
                                                       {"-128", "80"},
                                                       {"-129", "ff7f"},
                                                       {"255", "00ff"},
                                                       {"256", "0100"},
                                                       {"-256", "ff00"},
                                                       {"12345678901234567890", "00ab54a98ceb1f0ad2"}};
  for (const auto& [digits, bytes] : cases) {
    EXPECT_EQ(base::to_hex(encode_varint(BigInteger(digits))), bytes);
    EXPECT_EQ(decode_varint(hex(bytes)).str(), digits);
  }
  EXPECT_EQ(decode_varint(hex("ffffff7f")), -129);
}

TEST(Value, DecimalBytes) {
  EXPECT_EQ(base::to_hex(encode_decimal(-15, 1)), "00000001f1");
  BigInteger unscaled;
  int32_t scale = 0;
  decode_decimal(hex("fffffffb01"), unscaled, scale);
  EXPECT_EQ(unscaled, 1);
  EXPECT_EQ(scale, -5);
}

TEST(Value, DurationBytesAreCassandras) {
  EXPECT_EQ(base::to_hex(encode_duration({14, 25, 18367008009010})), "1c32fc2168cdf9d664");
  EXPECT_EQ(base::to_hex(encode_duration({2147483647, 0, 0})), "f0fffffffe0000");
  EXPECT_EQ(base::to_hex(encode_duration({0, 0, 9223372036854775807})), "0000fffffffffffffffffe");
  const Duration back = decode_duration(hex("1b05fc1ac003cfe7ff"));
  EXPECT_EQ(back.months, -14);
  EXPECT_EQ(back.days, -3);
  EXPECT_EQ(back.nanoseconds, -14706000000000);
}

TEST(Value, VintsOfEverySize) {
  for (int bits = 0; bits < 64; ++bits) {
    for (const uint64_t value : {uint64_t{1} << bits, (uint64_t{1} << bits) - 1, ~uint64_t{0} >> bits}) {
      Bytes bytes;
      append_unsigned_vint(bytes, value);
      BytesView rest = bytes;
      uint64_t back = 0;
      ASSERT_TRUE(take_unsigned_vint(rest, back));
      EXPECT_EQ(back, value);
      EXPECT_TRUE(rest.empty());
      for (size_t size = 0; size < bytes.size(); ++size) {
        BytesView cut = BytesView(bytes).substr(0, size);
        EXPECT_FALSE(take_unsigned_vint(cut, back));
      }
    }
  }
}

// --- Validation. The texts were recorded from Cassandra 5.0.

TEST(Validate, ScalarsOfTheWrongSize) {
  const auto check = [](Kind kind, BytesView bytes, const char* message) {
    EXPECT_EQ(refusal(*scalar(kind), bytes), message);
  };
  check(Kind::int_, "abc", "Expected 4 or 0 byte int (3)");
  check(Kind::bigint, "abc", "Expected 8 or 0 byte long (3)");
  check(Kind::counter, "abc", "Expected 8 or 0 byte long (3)");
  check(Kind::timestamp, "a", "Expected 8 or 0 byte long for date (1)");
  check(Kind::smallint, "abc", "Expected 2 bytes for a smallint (3)");
  check(Kind::smallint, "", "Expected 2 bytes for a smallint (0)");
  check(Kind::tinyint, "", "Expected 1 byte for a tinyint (0)");
  check(Kind::date, "", "Expected 4 byte long for date (0)");
  check(Kind::time, "", "Expected 8 byte long for time (0)");
  check(Kind::float_, "a", "Expected 4 or 0 byte value for a float (1)");
  check(Kind::double_, "a", "Expected 8 or 0 byte value for a double (1)");
  check(Kind::boolean, "abc", "Expected 1 or 0 byte value (3)");
  check(Kind::decimal, "abc", "Expected 0 or at least 4 bytes (3)");
  check(Kind::uuid, "abc", "UUID should be 16 or 0 bytes (3)");
  check(Kind::timeuuid, "@aaa", "UUID should be 16 or 0 bytes (4)");
  check(Kind::timeuuid, "@aaaaaaaaaaaaaaa", "Invalid version for TimeUUID type: 0x4");
  check(Kind::inet, "abc", "Expected 4 or 16 byte inetaddress; got 616263");
  check(Kind::ascii, "a\x80", "Invalid byte for ascii: -128");
  check(Kind::empty, "a", "EmptyType only accept empty values");
  for (const Kind kind :
       {Kind::int_, Kind::bigint, Kind::timestamp, Kind::float_, Kind::double_, Kind::boolean, Kind::decimal,
        Kind::varint, Kind::uuid, Kind::timeuuid, Kind::inet, Kind::text, Kind::blob})
    check(kind, "", "valid");
}

TEST(Validate, NumbersHaveALimit) {
  EXPECT_EQ(refusal(*scalar(Kind::varint), Bytes(65535, 'a')), "valid");
  EXPECT_EQ(refusal(*scalar(Kind::varint), Bytes(65536, 'a')),
            "A number may have at most 65535 bytes (65536)");
  EXPECT_EQ(refusal(*scalar(Kind::decimal), Bytes(65539, 'a')), "valid");
  EXPECT_EQ(refusal(*scalar(Kind::decimal), Bytes(65540, 'a')),
            "A number may have at most 65535 bytes (65536)");
}

TEST(Validate, Durations) {
  const Type& type = *scalar(Kind::duration);
  EXPECT_EQ(refusal(type, "ab"), "Expected at least 3 bytes for a duration (2)");
  EXPECT_EQ(refusal(type, hex("020102")),
            "The duration months, days and nanoseconds must be all of the same sign (1, -1, 1)");
  EXPECT_EQ(refusal(type, hex("ffffffffffffffffff0000")),
            "The duration months must be a 32 bits integer but was: -9223372036854775808");
  EXPECT_EQ(refusal(type, hex("00f1000000000000")),
            "The duration days must be a 32 bits integer but was: 2147483648");
  EXPECT_EQ(refusal(type, hex("f0ffffffff")), "Not enough bytes to read a duration");
  EXPECT_EQ(refusal(type, hex("000000")), "valid");
}

TEST(Validate, Utf8AsJavaDecodesIt) {
  const Type& type = *scalar(Kind::text);
  for (const char* valid : {"", "a", "é", "日本", "🜁", "\xf4\x8f\xbf\xbf", "\xed\x9f\xbf", "\xee\x80\x80",
                            "12345678é", "\xe0\xa0\x80", "\xf0\x90\x80\x80"})
    EXPECT_EQ(refusal(type, valid), "valid") << base::to_hex(valid);
  for (const char* bad :
       {"\x80", "\xc0\x80", "\xc1\xbf", "\xc2", "\xe0\x80\x80", "\xe2\x82", "\xed\xa0\x80",
        "\xf0\x80\x80\x80", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xff", "abcdefgh\xff", "é\xc3"})
    EXPECT_EQ(refusal(type, bad), "String didn't validate.") << base::to_hex(bad);
  EXPECT_EQ(refusal(type, "a\0b"s), "valid");
}

TEST(Validate, Collections) {
  const TypePtr list = list_of(scalar(Kind::int_), true);
  EXPECT_EQ(refusal(*list, ""), "Not enough bytes to read a list");
  EXPECT_EQ(refusal(*list, hex("000000")), "Not enough bytes to read a list");
  EXPECT_EQ(refusal(*list, hex("ffffffff")), "The data cannot be deserialized as a list");
  EXPECT_EQ(refusal(*list, hex("7fffffff")), "Not enough bytes to read a list");
  EXPECT_EQ(refusal(*list, hex("0000000161")), "Not enough bytes to read a list");
  EXPECT_EQ(refusal(*list, hex("000000010000000461")), "Not enough bytes to read a list");
  EXPECT_EQ(refusal(*list, hex("0000000100000003616263")), "Expected 4 or 0 byte int (3)");
  EXPECT_EQ(refusal(*list, hex("0000000061")), "Unexpected extraneous bytes after list value");
  EXPECT_EQ(refusal(*list, hex("00000001ffffffff")), "Null value read when not allowed");
  EXPECT_EQ(refusal(*list, hex("0000000100000004") + "abcd"), "valid");
  EXPECT_EQ(refusal(*list, hex("0000000100000000")), "valid");
  const TypePtr map = map_of(scalar(Kind::int_), scalar(Kind::text), true);
  EXPECT_EQ(refusal(*map, hex("0000000100000004") + "abcd"), "Not enough bytes to read a map");
  EXPECT_EQ(refusal(*map, hex("0000000100000004") + "abcd" + hex("00000001ff")), "String didn't validate.");
  EXPECT_EQ(refusal(*set_of(scalar(Kind::int_), true), hex("00")), "Not enough bytes to read a set");
}

TEST(Validate, TuplesAndUserTypes) {
  const TypePtr tuple = tuple_of({scalar(Kind::int_), scalar(Kind::text)});
  const Bytes four = hex("00000004") + "abcd";
  const Bytes one = hex("00000001") + "a";
  EXPECT_EQ(refusal(*tuple, ""), "valid");
  EXPECT_EQ(refusal(*tuple, four), "valid");
  EXPECT_EQ(refusal(*tuple, hex("ffffffff") + one), "valid");
  EXPECT_EQ(refusal(*tuple, four + one + one), "Invalid remaining data after end of tuple value");
  EXPECT_EQ(refusal(*tuple, hex("00000003") + "abc"), "Expected 4 or 0 byte int (3)");
  EXPECT_EQ(refusal(*tuple, hex("00000004") + "abc"), "Not enough bytes to read 0th component");
  EXPECT_EQ(refusal(*tuple, hex("000000")), "Not enough bytes to read size of 0th component");
  const TypePtr udt = udt_of("ks", "u", {"a", "b"}, {scalar(Kind::int_), scalar(Kind::text)}, true);
  EXPECT_EQ(refusal(*udt, four), "valid");
  EXPECT_EQ(refusal(*udt, hex("00000003") + "abc"),
            "Failure validating the 0th field a; Expected 4 or 0 byte int (3)");
  EXPECT_EQ(refusal(*udt, four + one + one), "Invalid remaining data after end of UDT value");
  EXPECT_EQ(refusal(*udt, hex("000000")), "Not enough bytes to read size of 0th field a");
  EXPECT_EQ(refusal(*udt, hex("00000004") + "abc"), "Not enough bytes to read 0th field a");
}

TEST(Validate, Vectors) {
  const TypePtr floats = vector_of(scalar(Kind::float_), 2);
  EXPECT_EQ(refusal(*floats, ""), "Invalid empty vector value");
  EXPECT_EQ(refusal(*floats, "abcd"), "Not enough bytes to read a vector<float, 2>");
  EXPECT_EQ(refusal(*floats, "abcdabcda"), "Unexpected 1 extraneous bytes after vector<float, 2> value");
  EXPECT_EQ(refusal(*floats, "abcdabcd"), "valid");
  const TypePtr texts = vector_of(scalar(Kind::text), 2);
  EXPECT_EQ(refusal(*texts, "\1a\1b"), "valid");
  EXPECT_EQ(refusal(*texts, "\1a"), "Not enough bytes to read a vector<text, 2>");
  EXPECT_EQ(refusal(*texts, "\1a\2b"), "Not enough bytes to read a vector<text, 2>");
  EXPECT_EQ(refusal(*texts, "\1a\1bc"), "Unexpected 1 extraneous bytes after vector<text, 2> value");
  EXPECT_EQ(refusal(*texts, "\1a\1\xff"), "String didn't validate.");
}

TEST(Validate, HugeSizesFailWithoutAllocating) {
  const TypePtr vector = vector_of(scalar(Kind::text), 4'000'000'000u);
  EXPECT_EQ(refusal(*vector, "\1a"), "Not enough bytes to read a vector<text, 4000000000>");
  EXPECT_FALSE(split(*vector, "\1a").has_value());
  EXPECT_FALSE(split(*vector_of(scalar(Kind::empty), 4'000'000'000u), "a").has_value());
  EXPECT_FALSE(validate(*vector_of(scalar(Kind::empty), 4'000'000'000u), "a").has_value());
  EXPECT_FALSE(split(*list_of(scalar(Kind::text), true), hex("7fffffff00000000")).has_value());
  EXPECT_FALSE(
      split(*map_of(scalar(Kind::text), scalar(Kind::text), true), hex("7fffffff00000000")).has_value());
}

TEST(Validate, DeepTypes) {
  TypePtr type = scalar(Kind::int_);
  Bytes value = encode_int32(7);
  for (uint32_t i = 1; i < max_type_depth; ++i) {
    type = list_of(type, true);
    value = join(*type, {BytesView(value)});
  }
  EXPECT_EQ(refusal(*type, value), "valid");
  value.back() = 0;
  value.pop_back();
  EXPECT_NE(refusal(*type, value), "valid");
}

// --- Order

void expect_ascending(const Type& type, const std::vector<Bytes>& values) {
  for (size_t i = 0; i < values.size(); ++i)
    for (size_t j = 0; j < values.size(); ++j) {
      const int order = compare(type, values[i], values[j]);
      EXPECT_EQ((order > 0) - (order < 0), (i > j) - (i < j))
          << type.cql_name() << " " << base::to_hex(values[i]) << " " << base::to_hex(values[j]);
    }
}

void expect_ascending(Kind kind, const std::vector<std::string>& literals) {
  std::vector<Bytes> values;
  for (const std::string& literal : literals) values.push_back(value_from(kind, literal));
  expect_ascending(*scalar(kind), values);
}

TEST(Compare, Numbers) {
  expect_ascending(Kind::tinyint, {"", "-128", "-1", "0", "127"});
  expect_ascending(Kind::smallint, {"-32768", "-1", "0", "32767"});
  expect_ascending(Kind::int_, {"", "-2147483648", "-1", "0", "1", "2147483647"});
  expect_ascending(Kind::bigint, {"", "-9223372036854775808", "-1", "0", "9223372036854775807"});
  expect_ascending(Kind::varint, {"", "-99999999999999999999", "-257", "-256", "-129", "-128", "-1", "0", "1",
                                  "127", "128", "255", "256", "99999999999999999999"});
  expect_ascending(Kind::float_, {"", "-Infinity", "-1", "-0.0", "0.0", "1e-45", "1", "Infinity", "NaN"});
  expect_ascending(Kind::double_, {"", "-Infinity", "-1", "-0.0", "0.0", "5e-324", "1", "Infinity", "NaN"});
}

TEST(Compare, DecimalsByValue) {
  expect_ascending(Kind::decimal, {"",
                                   "-1e2147483647",
                                   "-1e400",
                                   "-100.5",
                                   "-100",
                                   "-99.99",
                                   "-0.001",
                                   "0",
                                   "1e-2147483647",
                                   "1e-400",
                                   "0.001",
                                   "0.01",
                                   "0.011",
                                   "0.1",
                                   "1",
                                   "1.5",
                                   "9.99",
                                   "10",
                                   "99",
                                   "100",
                                   "1e400",
                                   "1e2147483647"});
  const Type& type = *scalar(Kind::decimal);
  EXPECT_EQ(compare(type, value_from(Kind::decimal, "1.0"), value_from(Kind::decimal, "1.00")), 0);
  EXPECT_EQ(compare(type, value_from(Kind::decimal, "100"), value_from(Kind::decimal, "1e2")), 0);
  EXPECT_EQ(compare(type, value_from(Kind::decimal, "0"), value_from(Kind::decimal, "0e10")), 0);
  // These bytes have only a scale.
  EXPECT_EQ(compare(type, hex("00000000"), value_from(Kind::decimal, "0.00")), 0);
}

TEST(Compare, LongDecimals) {
  const std::string nines(400, '9');
  const std::string digits = "1" + std::string(400, '0');
  expect_ascending(Kind::decimal, {"-" + digits + ".0", "-" + nines + "e-1", "-1." + nines, "1." + nines,
                                   nines + ".5", digits, digits + ".0001", nines + "e1"});
  EXPECT_EQ(compare(*scalar(Kind::decimal), value_from(Kind::decimal, digits),
                    value_from(Kind::decimal, digits + ".000")),
            0);
}

TEST(Compare, NaNsAreEqual) {
  EXPECT_EQ(compare(*scalar(Kind::float_), hex("7fc00000"), hex("ffc00001")), 0);
  EXPECT_EQ(compare(*scalar(Kind::double_), hex("7ff8000000000000"), hex("fff8000000000001")), 0);
  EXPECT_EQ(compare(*scalar(Kind::boolean), hex("01"), hex("ff")), 0);
}

TEST(Compare, Uuids) {
  // The order is by version, then by time or bytes, then by unsigned bytes.
  expect_ascending(Kind::uuid,
                   {"", "ffffffff-ffff-0fff-ffff-ffffffffffff", "00000002-0000-1000-0000-000000000000",
                    "00000001-0001-1000-0000-000000000000", "00000000-0000-1001-0000-000000000000",
                    "00000000-0000-1001-8000-000000000000", "00000000-0000-4000-0000-000000000000",
                    "00000001-0000-4000-0000-000000000000"});
  // The last eight bytes compare as signed bytes.
  expect_ascending(Kind::timeuuid,
                   {"", "00000002-0000-1000-8080-808080808080", "00000002-0000-1000-ff80-808080808080",
                    "00000002-0000-1000-0080-808080808080", "00000002-0000-1000-7f7f-7f7f7f7f7f7f",
                    "00000001-0001-1000-8080-808080808080", "00000000-0000-1001-8080-808080808080"});
}

TEST(Compare, TimesTextsAndAddresses) {
  expect_ascending(Kind::timestamp, {"", "-9223372036854775808", "-1", "0", "1"});
  expect_ascending(Kind::date, {"0", "2147483647", "2147483648", "4294967295"});
  expect_ascending(*scalar(Kind::time), {encode_int64(0), encode_int64(5), encode_int64(-1)});  // unsigned
  expect_ascending(Kind::text, {"", "A", "a", "aa", "b", "é"});
  expect_ascending(Kind::inet, {"", "::1", "1.2.3.4", "102:304::", "255.255.255.255"});
  expect_ascending(Kind::boolean, {"false", "true"});
}

TEST(Compare, ListsAndMaps) {
  const TypePtr list = list_of(scalar(Kind::int_), true);
  const auto make = [&](const std::vector<Bytes>& values) {
    return join(*list, Elements(values.begin(), values.end()));
  };
  expect_ascending(*list, {"", make({}), make({encode_int32(-5)}), make({encode_int32(1)}),
                           make({encode_int32(1), encode_int32(0)}), make({encode_int32(2)})});
  const TypePtr map = map_of(scalar(Kind::int_), scalar(Kind::text), true);
  const auto entry = [&](int32_t key, Bytes value) {
    return join(*map, {BytesView(encode_int32(key)), BytesView(value)});
  };
  expect_ascending(*map, {entry(1, "a"), entry(1, "b"), entry(2, "a")});
}

TEST(Compare, TuplesWithNulls) {
  const TypePtr tuple = tuple_of({scalar(Kind::int_), scalar(Kind::text)});
  const Bytes one = encode_int32(1);
  const Bytes empty = join(*tuple, {});
  expect_ascending(*tuple, {empty, join(*tuple, {std::nullopt}), join(*tuple, {std::nullopt, BytesView("")}),
                            join(*tuple, {BytesView("")}), join(*tuple, {BytesView(one)}),
                            join(*tuple, {BytesView(one), BytesView("")}),
                            join(*tuple, {BytesView(one), BytesView("a")})});
  EXPECT_EQ(compare(*tuple, join(*tuple, {BytesView(one)}), join(*tuple, {BytesView(one), std::nullopt})), 0);
}

TEST(Compare, Vectors) {
  const TypePtr vector = vector_of(scalar(Kind::float_), 2);
  expect_ascending(*vector, {encode_float(-1) + encode_float(5), encode_float(1) + encode_float(-5),
                             encode_float(1) + encode_float(0)});
}

// --- Elements

TEST(Elements, SplitErrors) {
  const TypePtr tuple = tuple_of({scalar(Kind::int_), scalar(Kind::text)});
  const Bytes more = hex("ffffffffffffffff00000000");
  EXPECT_EQ(split(*tuple, more).error().message(),
            "Expected 2 values for frozen<tuple<int, text>> column, but got more");
  EXPECT_EQ(split(*tuple, "ab").error().message(), "Not enough bytes to read 0th component");
  EXPECT_EQ(split(*tuple, hex("ffffffff"))->size(), 2u);
  EXPECT_FALSE(split(*scalar(Kind::int_), "abcd").has_value());
}

TEST(Elements, NormaliseKeepsTheFirstSpelling) {
  const TypePtr set = set_of(scalar(Kind::decimal), true);
  const Bytes a = value_from(Kind::decimal, "1.0");
  const Bytes b = value_from(Kind::decimal, "1.00");
  const Bytes c = value_from(Kind::decimal, "0.5");
  Elements elements = {BytesView(a), BytesView(b), BytesView(c)};
  normalise(*set, elements);
  ASSERT_EQ(elements.size(), 2u);
  EXPECT_EQ(*elements[0], c);
  EXPECT_EQ(*elements[1], a);
  const TypePtr map = map_of(scalar(Kind::decimal), scalar(Kind::text), true);
  elements = {BytesView(a), BytesView("x"), BytesView(b), BytesView("y")};
  normalise(*map, elements);
  ASSERT_EQ(elements.size(), 2u);
  EXPECT_EQ(*elements[0], a);
  EXPECT_EQ(*elements[1], "y");
}

// --- UUIDs

TEST(Uuid, RandomUuidsAreVersion4AndDiffer) {
  std::set<Bytes> seen;
  for (int i = 0; i < 1000; ++i) {
    const Bytes uuid = random_uuid();
    EXPECT_EQ(uuid_version(uuid), 4);
    EXPECT_EQ(static_cast<unsigned char>(uuid[8]) >> 6, 2);
    seen.insert(uuid);
  }
  EXPECT_EQ(seen.size(), 1000u);
}

TEST(Uuid, TimeUuidsIncreaseEvenIfTheClockDoesNot) {
  const Type& type = *scalar(Kind::timeuuid);
  Bytes previous = next_time_uuid(1'700'000'000'000'000);
  EXPECT_TRUE(validate(type, previous).has_value());
  for (int i = 0; i < 100; ++i) {
    const Bytes next = next_time_uuid(1'600'000'000'000'000);
    EXPECT_GT(compare(type, next, previous), 0);
    previous = next;
  }
  EXPECT_EQ(uuid_unix_millis(next_time_uuid(4'000'000'000'123'456)), 4'000'000'000'123);
  EXPECT_EQ(uuid_unix_micros(next_time_uuid(4'000'000'001'123'456)), 4'000'000'001'123'456);
}

TEST(Uuid, TimeUuidsAreUniqueAcrossThreads) {
  std::vector<std::vector<Bytes>> made(4);
  {
    std::vector<std::jthread> threads;
    for (auto& list : made)
      threads.emplace_back([&list] {
        for (int i = 0; i < 5000; ++i) list.push_back(next_time_uuid(1'700'000'000'000'000));
      });
  }
  std::set<Bytes> all;
  for (const auto& list : made) all.insert(list.begin(), list.end());
  EXPECT_EQ(all.size(), 20000u);
}

TEST(Uuid, BoundsOfAMillisecond) {
  const Type& type = *scalar(Kind::timeuuid);
  EXPECT_EQ(base::to_hex(min_time_uuid(0)),
            "13814000"
            "1dd2"
            "11b2"
            "8080808080808080");
  EXPECT_EQ(base::to_hex(max_time_uuid(0)),
            "1381670f"
            "1dd2"
            "11b2"
            "7f7f7f7f7f7f7f7f");
  for (const int64_t millis : {int64_t{-1}, int64_t{0}, int64_t{1'700'000'000'123}}) {
    EXPECT_EQ(uuid_unix_millis(min_time_uuid(millis)), millis);
    EXPECT_EQ(uuid_unix_millis(max_time_uuid(millis)), millis < 0 ? millis + 1 : millis);
    EXPECT_LT(compare(type, min_time_uuid(millis), max_time_uuid(millis)), 0);
    EXPECT_LT(compare(type, max_time_uuid(millis), min_time_uuid(millis + 1)), 0);
  }
}

}  // namespace
}  // namespace sibyl::types
