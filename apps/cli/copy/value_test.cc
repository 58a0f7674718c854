#include "cli/copy/value.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "types/compare.h"
#include "types/literals/literal.h"
#include "types/test_values.h"
#include "types/validate.h"
#include "types/value.h"

namespace sibyl::cli::copy {
namespace {

using base::Bytes;
using testing::HasSubstr;
using types::Kind;
using types::scalar;

std::string back_and_forth(const types::Type& type, const std::string& text) {
  const auto value = from_text(type, text);
  return value ? to_text(type, *value) : "error: " + value.error().message();
}

TEST(CopyValue, IsSpelledAsCqlshDoes) {
  const auto spelled = [](const types::TypePtr& type, const std::string& text) {
    EXPECT_EQ(back_and_forth(*type, text), text) << type->cql_name();
  };
  spelled(scalar(Kind::boolean), "True");
  spelled(scalar(Kind::blob), "0x00ff");
  spelled(scalar(Kind::blob), "0x");
  spelled(scalar(Kind::timestamp), "2011-02-03 04:05:06.789+0000");
  spelled(scalar(Kind::timestamp), "-62135596800001");
  spelled(scalar(Kind::date), "2011-02-03");
  spelled(scalar(Kind::time), "04:05:06.789000000");
  spelled(scalar(Kind::text), "it's, \"raw\"\n");
  spelled(scalar(Kind::inet), "::1");
  spelled(scalar(Kind::duration), "1y2mo3d4h");
  spelled(types::list_of(scalar(Kind::int_), false), "[1, 2, 3]");
  spelled(types::list_of(scalar(Kind::int_), false), "[]");
  spelled(types::set_of(scalar(Kind::text), false), "{'a, b', 'it''s'}");
  spelled(types::map_of(scalar(Kind::text), scalar(Kind::timestamp), false),
          "{'a': '2011-02-03 04:05:06.789+0000', 'b': '1970-01-01 00:00:00.000+0000'}");
  spelled(types::map_of(scalar(Kind::inet), scalar(Kind::inet), false), "{'::1': '127.0.0.1'}");
  spelled(types::tuple_of({scalar(Kind::int_), scalar(Kind::text), scalar(Kind::text)}), "(1, , '')");
  spelled(types::vector_of(scalar(Kind::float_), 3), "[1.0, -2.5, 3.0E10]");
  const auto address = types::udt_of("ks", "address", {"street", "House Number"},
                                     {scalar(Kind::text), scalar(Kind::int_)}, true);
  spelled(address, "{street: 'Main', 'House Number': 7}");
  spelled(address, "{street: 'Main'}");
  spelled(types::list_of(address, true), "[{street: '}'}, {'House Number': 7}]");
}

TEST(CopyValue, ReadsOtherSpellings) {
  EXPECT_EQ(back_and_forth(*scalar(Kind::boolean), "false"), "False");
  EXPECT_EQ(back_and_forth(*scalar(Kind::timestamp), "2011-02-03T04:05:06Z"), "2011-02-03 04:05:06.000+0000");
  // cqlsh does not quote times. Their colons must not end a key of the map.
  EXPECT_EQ(back_and_forth(*types::map_of(scalar(Kind::time), scalar(Kind::int_), false), "{04:05:06: 1}"),
            "{'04:05:06.000000000': 1}");
  EXPECT_EQ(
      back_and_forth(*types::map_of(scalar(Kind::text), scalar(Kind::int_), false), "{ 'b':2,'a' : 1 }"),
      "{'a': 1, 'b': 2}");
  EXPECT_EQ(back_and_forth(*types::set_of(scalar(Kind::int_), false), "{2, 1, 2}"), "{1, 2}");
}

TEST(CopyValue, ErrorsNameTheProblem) {
  const auto refusal = [](const types::TypePtr& type, const std::string& text) {
    const auto value = from_text(*type, text);
    return value ? "accepted" : value.error().message();
  };
  EXPECT_THAT(refusal(scalar(Kind::int_), "seven"), HasSubstr("seven"));
  EXPECT_THAT(refusal(scalar(Kind::blob), "ff"), HasSubstr("0x"));
  EXPECT_THAT(refusal(scalar(Kind::text), "\xff"), HasSubstr("validate"));
  EXPECT_THAT(refusal(types::list_of(scalar(Kind::int_), false), "[1, 2"), HasSubstr("expected , or ]"));
  EXPECT_THAT(refusal(types::list_of(scalar(Kind::int_), false), "[1]]"), HasSubstr("after the end"));
  EXPECT_THAT(refusal(types::list_of(scalar(Kind::int_), false), "[1, ]"), HasSubstr("null"));
  EXPECT_THAT(refusal(types::list_of(scalar(Kind::text), false), "['a]"), HasSubstr("not closed"));
  EXPECT_THAT(refusal(types::vector_of(scalar(Kind::float_), 2), "[1]"), HasSubstr("2 elements"));
  EXPECT_THAT(refusal(types::tuple_of({scalar(Kind::int_)}), "(1, 2)"), HasSubstr("more than 1"));
  EXPECT_THAT(refusal(types::map_of(scalar(Kind::int_), scalar(Kind::int_), false), "{1}"), HasSubstr(":"));
}

TEST(CopyValueProperty, EveryValueOfEveryTypeRoundTrips) {
  EXPECT_TRUE(rc::check([] {
    const auto type = types::testing::arbitrary_type(3);
    const Bytes value = types::testing::arbitrary_value(*type);
    RC_PRE(types::validate(*type, value).has_value());
    const std::string text = to_text(*type, value);
    const auto back = from_text(*type, text);
    RC_LOG() << type->cql_name() << ": " << text << "\n";
    RC_ASSERT(back.has_value());
    RC_ASSERT(types::compare(*type, *back, value) == 0);
  }));
}

TEST(CopyValueProperty, NoTextBreaksTheReader) {
  EXPECT_TRUE(rc::check([] {
    const auto type = types::testing::arbitrary_type(3);
    std::string text = to_text(*type, types::testing::arbitrary_value(*type));
    for (size_t i = types::testing::below(4); i > 0 && !text.empty(); --i) {
      const size_t at = types::testing::below(text.size());
      if (types::testing::one_in(2))
        text.erase(at, 1);
      else
        text[at] = "[]{}(),:' \"\\0x"[types::testing::below(14)];
    }
    const auto value = from_text(*type, text);
    if (value) RC_ASSERT(types::validate(*type, *value).has_value());
  }));
}

}  // namespace
}  // namespace sibyl::cli::copy
