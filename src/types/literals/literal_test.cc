#include "types/literals/literal.h"

#include <gtest/gtest.h>

#include <chrono>
#include <fstream>

#include "base/source_path.h"
#include "types/literals/literal_duration.h"
#include "types/literals/literal_number.h"
#include "types/literals/literal_time.h"
#include "types/number.h"
#include "types/print.h"
#include "types/validate.h"

namespace sibyl::types {
namespace {

std::string read(Kind kind, std::string_view text) {
  const base::Result<Bytes> value = from_string(*scalar(kind), text);
  return value ? base::to_hex(*value) : "! " + value.error().message();
}

TEST(Literal, AcceptsWhatCassandraAccepts) {
  std::ifstream file(base::source_path("tests/data/literals.txt"));
  ASSERT_TRUE(file.is_open());
  std::string line;
  int checked = 0;
  while (std::getline(file, line)) {
    if (line.starts_with('#')) continue;
    const size_t first = line.find('\t');
    const size_t second = line.find('\t', first + 1);
    ASSERT_NE(second, std::string::npos) << line;
    const TypePtr type = scalar_by_name(line.substr(0, first));
    ASSERT_NE(type, nullptr) << line;
    const std::string text = line.substr(first + 1, second - first - 1);
    EXPECT_EQ(read(type->kind(), text), line.substr(second + 1)) << line;
    ++checked;
  }
  EXPECT_GE(checked, 600);
}

TEST(Literal, EmptyTextIsTheEmptyValue) {
  for (const Kind kind :
       {Kind::int_, Kind::bigint, Kind::varint, Kind::decimal, Kind::float_, Kind::double_, Kind::uuid,
        Kind::timeuuid, Kind::inet, Kind::timestamp, Kind::duration, Kind::text, Kind::blob})
    EXPECT_EQ(read(kind, ""), "");
  EXPECT_EQ(read(Kind::boolean, ""), "00");
  EXPECT_EQ(read(Kind::date, ""), "! Unable to coerce '' to a formatted date (long)");
  EXPECT_EQ(read(Kind::time, ""), "! (TimeType) Unable to coerce '' to a formatted time (long)");
}

// Spellings that are valid in strings (in JSON or from files) but not in CQL literals.
TEST(Literal, NumbersInStrings) {
  EXPECT_EQ(read(Kind::int_, "+5"), "00000005");
  EXPECT_EQ(read(Kind::int_, "+-5"), "! Unable to make int from '+-5'");
  EXPECT_EQ(read(Kind::int_, " 5"), "! Unable to make int from ' 5'");
  EXPECT_EQ(read(Kind::int_, "5x"), "! Unable to make int from '5x'");
  EXPECT_EQ(read(Kind::tinyint, "200"), "! Unable to make byte from '200'");
  EXPECT_EQ(read(Kind::smallint, "x"), "! Unable to make short from 'x'");
  EXPECT_EQ(read(Kind::bigint, "x"), "! Unable to make long from 'x'");
  EXPECT_EQ(read(Kind::counter, "5"), "0000000000000005");
  EXPECT_EQ(read(Kind::varint, "-"), "! unable to make int from '-'");
  EXPECT_EQ(read(Kind::varint, "1.5"), "! unable to make int from '1.5'");
  EXPECT_EQ(read(Kind::varint, "010"), "0a");
  EXPECT_EQ(read(Kind::decimal, ".5"), "0000000105");
  EXPECT_EQ(read(Kind::decimal, "5."), "0000000005");
  EXPECT_EQ(read(Kind::decimal, "."), "! unable to make BigDecimal from '.'");
  EXPECT_EQ(read(Kind::decimal, "1e"), "! unable to make BigDecimal from '1e'");
  EXPECT_EQ(read(Kind::decimal, "1e2147483648"), "8000000001");
  EXPECT_EQ(read(Kind::decimal, "1e2147483649"), "! unable to make BigDecimal from '1e2147483649'");
  EXPECT_EQ(read(Kind::decimal, "1e-2147483648"), "! unable to make BigDecimal from '1e-2147483648'");
  EXPECT_EQ(read(Kind::decimal, "1e99999999999999999999"),
            "! unable to make BigDecimal from '1e99999999999999999999'");
}

TEST(Literal, ParsesFloatsLikeJava) {
  EXPECT_EQ(read(Kind::float_, " 1.5f "), "3fc00000");
  EXPECT_EQ(read(Kind::double_, "1d"), "3ff0000000000000");
  EXPECT_EQ(read(Kind::double_, "0x1.8p1"), "4008000000000000");
  EXPECT_EQ(read(Kind::double_, "0x1.8"), "! Unable to make double from '0x1.8'");
  EXPECT_EQ(read(Kind::double_, "-.5"), "bfe0000000000000");
  EXPECT_EQ(read(Kind::double_, "+Infinity"), "7ff0000000000000");
  EXPECT_EQ(read(Kind::double_, "-NaN"), "7ff8000000000000");
  EXPECT_EQ(read(Kind::double_, "1e400"), "7ff0000000000000");
  EXPECT_EQ(read(Kind::double_, "-1e400"), "fff0000000000000");
  EXPECT_EQ(read(Kind::double_, "1e-400"), "0000000000000000");
  EXPECT_EQ(read(Kind::double_, "0.000000000000001e-99999999999"), "0000000000000000");
  EXPECT_EQ(read(Kind::float_, "16777217"), "4b800000");  // rounded once
  for (const char* bad : {"", "e5", "1e", "1e+", "inf", "nan", "0x", "1 2", "--1", "1ff", "."}) {
    if (*bad == '\0') continue;
    EXPECT_EQ(read(Kind::double_, bad), "! Unable to make double from '" + std::string(bad) + "'");
    EXPECT_EQ(read(Kind::float_, bad), "! Unable to make float from '" + std::string(bad) + "'");
  }
}

TEST(Literal, LongNumbers) {
  std::string digits = "1";
  for (int i = 0; i < 5000; ++i) digits += static_cast<char>('0' + i * 7 % 10);
  const base::Result<Bytes> value = parse_varint("-" + digits);
  ASSERT_TRUE(value.has_value());
  EXPECT_EQ(format_varint(*value), "-" + digits);
  EXPECT_EQ(decode_varint(*value), -BigInteger(digits));
  EXPECT_EQ(format_varint(parse_varint(std::string(1000, '0') + "7").value()), "7");
}

TEST(Literal, NumbersHaveALimit) {
  const std::string most(157808, '9');
  EXPECT_TRUE(validate(*scalar(Kind::varint), parse_varint(most).value()).has_value());
  EXPECT_TRUE(validate(*scalar(Kind::decimal), parse_decimal("-0." + most.substr(1)).value()).has_value());
  EXPECT_EQ(parse_varint(most + "9").error().message(), "A number may have at most 157808 digits (157809)");
  EXPECT_EQ(parse_decimal(most + ".5").error().message(), "A number may have at most 157808 digits (157809)");
  EXPECT_FALSE(parse_varint(std::string(100'000'000, '9')).has_value());
}

TEST(Literal, Uuids) {
  EXPECT_EQ(read(Kind::uuid, "x"), "! Unable to make UUID from 'x'");
  EXPECT_EQ(read(Kind::uuid, "6ba7b8109dad11d180b400c04fd430c8"),
            "! Unable to make UUID from '6ba7b8109dad11d180b400c04fd430c8'");
  EXPECT_EQ(read(Kind::uuid, "6ba7b810-9dad-11d1-80b4-00c04fd430cg"),
            "! Unable to make UUID from '6ba7b810-9dad-11d1-80b4-00c04fd430cg'");
  EXPECT_EQ(read(Kind::uuid, "6ba7b8-109dad-11d1-80b4-00c04fd430c8"),
            "! Unable to make UUID from '6ba7b8-109dad-11d1-80b4-00c04fd430c8'");
  EXPECT_EQ(read(Kind::timeuuid, "x"), "! Unknown timeuuid representation: x");
}

TEST(Literal, BlobsAndBooleans) {
  EXPECT_EQ(read(Kind::blob, "00ff"), "00ff");
  EXPECT_EQ(read(Kind::blob, "0x0"), "! cannot parse '0x0' as hex bytes");
  EXPECT_EQ(read(Kind::blob, "zz"), "! cannot parse 'zz' as hex bytes");
  EXPECT_EQ(read(Kind::boolean, "TRUE"), "01");
  EXPECT_EQ(read(Kind::boolean, "yes"), "! Unable to make boolean from 'yes'");
  EXPECT_EQ(read(Kind::empty, "x"), "! 'x' is not empty");
}

TEST(Literal, NowIsTheCurrentTime) {
  const auto now = [] {
    using namespace std::chrono;
    return duration_cast<milliseconds>(system_clock::now().time_since_epoch()).count();
  };
  const int64_t before = now();
  const int64_t parsed = parse_timestamp_millis("nOw").value();
  EXPECT_LE(before, parsed);
  EXPECT_LE(parsed, now());
}

TEST(Literal, AmbiguousZonesGetAHint) {
  const base::Result<int64_t> parsed = parse_timestamp_millis("2011-07-03 04:05 BST");
  ASSERT_FALSE(parsed.has_value());
  EXPECT_EQ(parsed.error().message(), "Unable to parse a date/time from '2011-07-03 04:05 BST'");
  EXPECT_NE(parsed.error().hint().find("several meanings"), std::string::npos);
  EXPECT_TRUE(parse_timestamp_millis("2011-07-03 04:05 XYZ").error().hint().empty());
}

TEST(Literal, DurationsThatDoNotFit) {
  EXPECT_FALSE(parse_duration("9223372036854775808ns").has_value());
  EXPECT_FALSE(parse_duration("9999999999999999999999y").has_value());
  EXPECT_FALSE(parse_duration("P9999999999999999999999Y").has_value());
  EXPECT_EQ(parse_duration("P").value(), encode_duration({}));  // Java's pattern accepts this
  EXPECT_EQ(parse_duration("").error().message(), "Unable to convert '' to a duration");
  EXPECT_EQ(parse_duration("-").error().message(), "Unable to convert '' to a duration");
  EXPECT_EQ(parse_duration("1d ").error().message(), "Unable to convert '1d ' to a duration");
}

}  // namespace
}  // namespace sibyl::types
