#include "types/print.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <limits>

#include "base/test_bytes.h"
#include "types/compare.h"
#include "types/elements.h"
#include "types/identifier.h"
#include "types/literals/literal.h"
#include "types/print_json.h"
#include "types/print_value.h"
#include "types/test_values.h"

namespace sibyl::types {
namespace {

using base::hex;
using namespace std::string_literals;

Bytes from(Kind kind, std::string_view text) {
  return from_string(*scalar(kind), text).value();
}

struct Nested {
  TypePtr point = udt_of("ks", "u", {"a", "B", "it's"},
                         {scalar(Kind::int_), scalar(Kind::text), scalar(Kind::float_)}, true);
  TypePtr list = list_of(scalar(Kind::text), true);
  TypePtr map = map_of(scalar(Kind::int_), scalar(Kind::timestamp), true);
  TypePtr tuple = tuple_of({scalar(Kind::int_), scalar(Kind::inet), scalar(Kind::double_)});
  Bytes one = encode_int32(1);
  Bytes instant = from(Kind::timestamp, "2011-02-03 04:05:06.789Z");
  Bytes address = from(Kind::inet, "2001:db8::1");
  Bytes half = encode_double(0.5);
  Bytes point_value = join(*point, {BytesView(one), std::nullopt});
  Bytes list_value = join(*list, {BytesView("it's"), BytesView("")});
  Bytes map_value = join(*map, {BytesView(one), BytesView(instant)});
  Bytes tuple_value = join(*tuple, {BytesView(one), BytesView(address), BytesView(half)});
};

TEST(Print, JavasFloats) {
  const std::pair<double, const char*> doubles[] = {{0, "0.0"},
                                                    {-0.0, "-0.0"},
                                                    {1, "1.0"},
                                                    {-1.5, "-1.5"},
                                                    {100, "100.0"},
                                                    {9999999, "9999999.0"},
                                                    {10000000, "1.0E7"},
                                                    {12345678, "1.2345678E7"},
                                                    {0.001, "0.001"},
                                                    {0.00099, "9.9E-4"},
                                                    {1e300, "1.0E300"},
                                                    {5e-324, "4.9E-324"},
                                                    {0.1, "0.1"},
                                                    {123456.789, "123456.789"},
                                                    {1e22, "1.0E22"},
                                                    {std::numeric_limits<double>::infinity(), "Infinity"},
                                                    {-std::numeric_limits<double>::infinity(), "-Infinity"},
                                                    {std::numeric_limits<double>::quiet_NaN(), "NaN"}};
  for (const auto& [value, text] : doubles) EXPECT_EQ(format_double(value), text);
  EXPECT_EQ(format_float(0.1f), "0.1");
  EXPECT_EQ(format_float(1234567.0f), "1234567.0");
  EXPECT_EQ(format_float(1e-5f), "1.0E-5");
  EXPECT_EQ(format_float(3.4028235e38f), "3.4028235E38");
}

TEST(Print, Decimals) {
  for (const char* text :
       {"0", "1", "-1", "1.500", "0.5", "-0.05", "1E+10", "1.5E+11", "0E-10", "1E-7", "0.000001",
        "1E+2147483647", "123456789012345678901234567890.12", "-1.23E-7", "0.00"})
    EXPECT_EQ(format_decimal(from(Kind::decimal, text)), text);
  EXPECT_EQ(format_decimal(from(Kind::decimal, "1e-2147483647")), "1E-2147483647");
  EXPECT_EQ(format_decimal(hex("00000002")), "0.00");
}

TEST(Print, TimesAndDates) {
  EXPECT_EQ(format_timestamp(1296705906789), "2011-02-03T04:05:06.789Z");
  EXPECT_EQ(format_time(3'723'004'005'006), "01:02:03.004005006");
  EXPECT_EQ(format_time(-65'536),
            "00:00:00.00000-6500-536");  // as Cassandra prints bytes that are not a time
  EXPECT_EQ(format_timestamp(-1), "1969-12-31T23:59:59.999Z");
  EXPECT_EQ(format_timestamp(std::numeric_limits<int64_t>::max()), "+292278994-08-17T07:12:55.807Z");
  EXPECT_EQ(format_timestamp(std::numeric_limits<int64_t>::min()), "-292275055-05-16T16:47:04.192Z");
  EXPECT_EQ(format_date(0), "1970-01-01");
  EXPECT_EQ(format_date(std::numeric_limits<int32_t>::min()), "-5877641-06-23");
  EXPECT_EQ(format_date(std::numeric_limits<int32_t>::max()), "+5881580-07-11");
  EXPECT_EQ(format_time(3723500000000), "01:02:03.500000000");
}

TEST(Print, Durations) {
  EXPECT_EQ(format_duration({14, 25, 18367008009010}), "1y2mo25d5h6m7s8ms9us10ns");
  EXPECT_EQ(format_duration({-1, -1, 0}), "-1mo1d");
  EXPECT_EQ(format_duration({}), "");
  EXPECT_EQ(format_duration({0, 0, std::numeric_limits<int64_t>::min()}), "-2562047h47m16s854ms775us808ns");
  EXPECT_EQ(to_literal(*scalar(Kind::duration), encode_duration({})), "0s");
}

TEST(Print, UuidsAndAddresses) {
  EXPECT_EQ(format_uuid(hex("6ba7b8109dad11d180b400c04fd430c8")), "6ba7b810-9dad-11d1-80b4-00c04fd430c8");
  EXPECT_EQ(format_inet(hex("7f000001")), "127.0.0.1");
  EXPECT_EQ(format_inet(hex("20010db8000000000000000000000001")), "2001:db8::1");
  EXPECT_EQ(format_long_inet(hex("20010db8000000000000000000000001")), "2001:db8:0:0:0:0:0:1");
}

TEST(Print, Names) {
  EXPECT_EQ(quote_identifier("abc_1"), "abc_1");
  EXPECT_EQ(quote_identifier("Abc"), "\"Abc\"");
  EXPECT_EQ(quote_identifier("_abc"), "\"_abc\"");
  EXPECT_EQ(quote_identifier("1abc"), "\"1abc\"");
  EXPECT_EQ(quote_identifier("a\"b"), "\"a\"\"b\"");
  EXPECT_EQ(quote_identifier(""), "\"\"");
  EXPECT_EQ(quote_identifier("select"), "\"select\"");
  EXPECT_EQ(quote_identifier("infinity"), "\"infinity\"");
  EXPECT_EQ(quote_identifier("key"), "key");
  EXPECT_EQ(quote_identifier("timestamp"), "timestamp");
  EXPECT_EQ(quote_string("it's"), "'it''s'");
}

TEST(Print, Literals) {
  const Nested nested;
  EXPECT_EQ(to_literal(*nested.point, nested.point_value), "{a: 1, \"B\": null, \"it's\": null}");
  EXPECT_EQ(to_literal(*nested.list, nested.list_value), "['it''s', '']");
  EXPECT_EQ(to_literal(*nested.map, nested.map_value), "{1: '2011-02-03T04:05:06.789Z'}");
  EXPECT_EQ(to_literal(*nested.tuple, nested.tuple_value), "(1, '2001:db8::1', 0.5)");
  EXPECT_EQ(to_literal(*scalar(Kind::int_), ""), "blob_as_int(0x)");
  EXPECT_EQ(to_literal(*scalar(Kind::timestamp), ""), "''");
  EXPECT_EQ(to_literal(*scalar(Kind::timestamp), encode_int64(std::numeric_limits<int64_t>::max())),
            "9223372036854775807");
  EXPECT_EQ(to_literal(*scalar(Kind::time), encode_int64(-1)), "blob_as_time(0xffffffffffffffff)");
  EXPECT_EQ(to_literal(*scalar(Kind::blob), hex("00ff")), "0x00ff");
  EXPECT_EQ(to_literal(*scalar(Kind::int_), "abc"), "0x616263");
}

TEST(Print, DisplaysLikeCqlsh) {
  const Nested nested;
  const auto shown = [](Kind kind, std::string_view text) {
    return to_display(*scalar(kind), from(kind, text));
  };
  EXPECT_EQ(to_display(*nested.point, nested.point_value), "{a: 1, B: null, it's: null}");
  EXPECT_EQ(to_display(*nested.list, nested.list_value), "['it''s', '']");
  EXPECT_EQ(to_display(*nested.map, nested.map_value), "{1: '2011-02-03 04:05:06.789000+0000'}");
  EXPECT_EQ(to_display(*nested.tuple, nested.tuple_value), "(1, '2001:db8::1', 0.5)");
  EXPECT_EQ(shown(Kind::text, "it's"), "it's");
  EXPECT_EQ(to_display(*scalar(Kind::text), "a\n\t\\\x01\x7f\xc2\x80\xc2\xa0é"),
            "a\\n\\t\\\\\\x01\\x7f\\x80\\xa0é");
  EXPECT_EQ(shown(Kind::timestamp, "2011-02-03 04:05:06.789Z"), "2011-02-03 04:05:06.789000+0000");
  EXPECT_EQ(shown(Kind::timestamp, "9223372036854775807"), "9223372036854775807");
  EXPECT_EQ(shown(Kind::boolean, "true"), "True");
  EXPECT_EQ(shown(Kind::float_, "3.14159265"), "3.14159");
  EXPECT_EQ(shown(Kind::float_, "0.1"), "0.1");
  EXPECT_EQ(shown(Kind::float_, "123456789"), "1.2346e+08");
  EXPECT_EQ(shown(Kind::double_, "3.14159265358979"), "3.14159265359");
  EXPECT_EQ(shown(Kind::double_, "100"), "100");
  EXPECT_EQ(shown(Kind::double_, "NaN"), "NaN");
  EXPECT_EQ(shown(Kind::double_, "0"), "0");
  EXPECT_EQ(shown(Kind::int_, ""), "");
  EXPECT_EQ(shown(Kind::blob, "0x00"), "0x00");
  EXPECT_EQ(shown(Kind::decimal, "1.50"), "1.50");
}

// Recorded from `SELECT JSON` on Cassandra 5.0.
TEST(Print, Json) {
  const Nested nested;
  const auto json = [](Kind kind, std::string_view text) { return to_json(*scalar(kind), from(kind, text)); };
  EXPECT_EQ(to_json(*nested.point, nested.point_value), R"({"a": 1, "\"B\"": null, "it's": null})");
  EXPECT_EQ(to_json(*nested.list, nested.list_value), R"(["it's", ""])");
  EXPECT_EQ(to_json(*nested.map, nested.map_value), R"({"1": "2011-02-03 04:05:06.789Z"})");
  EXPECT_EQ(to_json(*nested.tuple, nested.tuple_value), R"([1, "2001:db8:0:0:0:0:0:1", 0.5])");
  EXPECT_EQ(to_json(*scalar(Kind::text), "a\"\\b\n\t\x01\x1fé/"), R"("a\"\\b\n\t\u0001\u001Fé/")");
  EXPECT_EQ(json(Kind::double_, "NaN"), "null");
  EXPECT_EQ(json(Kind::float_, "-Infinity"), "null");
  EXPECT_EQ(json(Kind::double_, "1e300"), "1.0E300");
  EXPECT_EQ(json(Kind::decimal, "1E+10"), "1E+10");
  EXPECT_EQ(json(Kind::date, "+12345-01-01"), R"("+12345-01-01")");
  EXPECT_EQ(json(Kind::time, "01:02:03.5"), R"("01:02:03.500000000")");
  EXPECT_EQ(json(Kind::duration, "0s"), R"("")");
  EXPECT_EQ(json(Kind::blob, "00ff"), R"("0x00ff")");
  EXPECT_EQ(json(Kind::boolean, "true"), "true");
  EXPECT_EQ(json(Kind::int_, ""), R"("")");
  EXPECT_EQ(json(Kind::varint, "12345678901234567890"), "12345678901234567890");
  const TypePtr by_tuple =
      map_of(tuple_of({scalar(Kind::int_), scalar(Kind::text)}), scalar(Kind::int_), true);
  const Bytes key = join(*by_tuple->map_key(), {BytesView(nested.one), BytesView("a\"b")});
  const Bytes two = encode_int32(2);
  EXPECT_EQ(to_json(*by_tuple, join(*by_tuple, {BytesView(key), BytesView(two)})),
            R"({"[1, \"a\\\"b\"]": 2})");
}

// Parses a literal of a known type. Supports only the CQL that to_literal writes.
class LiteralReader {
 public:
  explicit LiteralReader(std::string_view text) : rest_(text) {}

  Bytes value(const Type& type) {
    if (type.parameters().empty()) return scalar_value(type);
    const char close = accept("[") ? ']' : accept("(") ? ')' : accept("{") ? '}' : '?';
    RC_ASSERT(close != '?');
    std::vector<std::optional<Bytes>> owned;
    const size_t width = type.parameters().size();
    while (!accept(std::string_view(&close, 1))) {
      if (!owned.empty()) RC_ASSERT(accept(type.kind() == Kind::map && owned.size() % 2 == 1 ? ": " : ", "));
      if (type.kind() == Kind::udt)
        RC_ASSERT(accept(quote_identifier(type.field_names()[owned.size()]) + ": "));
      if (accept("null"))
        owned.emplace_back(std::nullopt);
      else
        owned.emplace_back(value(*type.parameters()[owned.size() % width]));
    }
    Elements elements;
    for (const auto& element : owned)
      elements.push_back(element ? std::optional<BytesView>(*element) : std::nullopt);
    return join(type, elements);
  }

  bool at_end() const { return rest_.empty(); }

 private:
  Bytes scalar_value(const Type& type) {
    if (accept("blob_as_" + type.cql_name() + "(")) {
      const size_t end = rest_.find(')');
      Bytes bytes = from_string(*scalar(Kind::blob), rest_.substr(0, end)).value();
      rest_.remove_prefix(end + 1);
      return bytes;
    }
    std::string text;
    if (accept("'")) {
      while (!rest_.starts_with('\'') || rest_.starts_with("''")) {
        if (rest_.starts_with('\'')) rest_.remove_prefix(1);
        text += rest_[0];
        rest_.remove_prefix(1);
      }
      rest_.remove_prefix(1);
    } else {
      const size_t end = std::min(rest_.find_first_of(",:]})"), rest_.size());
      text = rest_.substr(0, end);
      rest_.remove_prefix(end);
    }
    // Hexadecimal stands for bytes, whatever the type.
    const bool is_hex = type.kind() == Kind::custom && text.starts_with("0x");
    const base::Result<Bytes> bytes = from_string(is_hex ? *scalar(Kind::blob) : type, text);
    if (!bytes) RC_FAIL(bytes.error().message());
    return *bytes;
  }

  bool accept(std::string_view word) {
    if (!rest_.starts_with(word)) return false;
    rest_.remove_prefix(word.size());
    return true;
  }

  std::string_view rest_;
};

// A zero-length tuple has no literal. It prints as a tuple of nulls.
bool has_empty_tuple(const Type& type, BytesView value) {
  if (type.parameters().empty()) return false;
  if (value.empty()) return true;
  const base::Result<Elements> elements = split(type, value);
  for (size_t i = 0; i < elements->size(); ++i)
    if (const auto& element = (*elements)[i];
        element && has_empty_tuple(*type.parameters()[i % type.parameters().size()], *element))
      return true;
  return false;
}

RC_GTEST_PROP(Print, LiteralsRoundTrip, ()) {
  const TypePtr type = testing::arbitrary_type(3);
  const Bytes value = testing::arbitrary_value(*type);
  RC_PRE(!has_empty_tuple(*type, value));
  const std::string literal = to_literal(*type, value);
  RC_LOG() << type->cql_name() << " " << base::to_hex(value) << " " << literal;
  LiteralReader reader(literal);
  const Bytes again = reader.value(*type);
  RC_ASSERT(reader.at_end());
  RC_ASSERT(compare(*type, again, value) == 0);
}

}  // namespace
}  // namespace sibyl::types
