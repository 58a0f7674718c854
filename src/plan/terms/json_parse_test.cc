#include "plan/terms/json_parse.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace sibyl::plan {
namespace {

// The tree as text: kinds of leaves are marked, so that 1 and "1" and 1.0 differ.
std::string print_tree(const JsonNode& node) {
  using Kind = JsonNode::Kind;
  switch (node.kind) {
    case Kind::null:
      return "null";
    case Kind::boolean:
      return node.text;
    case Kind::integer:
      return "i:" + node.text;
    case Kind::floating:
      return "f:" + node.text;
    case Kind::string:
      return "s:" + node.text;
    case Kind::array: {
      std::string out;
      for (const JsonNode& element : node.elements) out += (out.empty() ? "" : " ") + print_tree(element);
      return "[" + out + "]";
    }
    case Kind::object: {
      std::string out;
      for (const auto& [name, member] : node.members)
        out += (out.empty() ? "" : " ") + name + "=" + print_tree(member);
      return "{" + out + "}";
    }
  }
  return "";
}

std::string parsed(std::string_view text) {
  const auto node = parse_json(text);
  return node ? print_tree(*node) : std::string(node.error().message());
}

struct JsonCase {
  std::string_view text;
  std::string_view expected;
};

void expect_all(const std::vector<JsonCase>& cases) {
  for (const JsonCase& one : cases) EXPECT_EQ(parsed(one.text), one.expected) << one.text;
}

TEST(JsonParse, KeepsTheTextOfNumbers) {
  expect_all({
      {"0", "i:0"},
      {"-0", "i:-0"},
      {"123456789012345678901234567890", "i:123456789012345678901234567890"},
      {"0.10", "f:0.10"},
      {"3.14159265358979323846264338327950288", "f:3.14159265358979323846264338327950288"},
      {"1e400", "f:1e400"},
      {"-1.5E+07", "f:-1.5E+07"},
      {"0e99999999999", "f:0e99999999999"},
      {"1e-99999999999", "f:1e-99999999999"},
  });
}

TEST(JsonParse, ReadsNestedValues) {
  expect_all({
      {" \t\r\n null ", "null"},
      {"[ ]", "[]"},
      {"{ }", "{}"},
      {"[true, false ,null]", "[true false null]"},
      {R"({"a" : [1, {"b": "2"}], "c": {}})", "{a=[i:1 {b=s:2}] c={}}"},
  });
}

TEST(JsonParse, KeepsTheLastOfSeveralMembersWithOneName) {
  expect_all({
      {R"({"a": 1, "b": 2, "a": 3})", "{b=i:2 a=i:3}"},
      {R"({"a": 1, "\u0061": 2})", "{a=i:2}"},
      {R"({"a": 1, "A": 2})", "{a=i:1 A=i:2}"},
  });
}

TEST(JsonParse, DecodesEscapes) {
  expect_all({
      {R"("\"\\\/\b\f\n\r\t")", "s:\"\\/\b\f\n\r\t"},
      {R"("\u0041\u00e9\u20AC")", "s:A\xC3\xA9\xE2\x82\xAC"},
      {R"("\ud83d\ude00")", "s:\xF0\x9F\x98\x80"},
      {"\"\xC3\xA9\x7F\"", "s:\xC3\xA9\x7F"},
      {R"("\u00e")", "expected four hexadecimal digits at offset 3"},
      {R"("\u00eg")", "expected four hexadecimal digits at offset 3"},
      {R"("\x")", "unknown escape at offset 3"},
      {R"("\)", "unexpected end of a string at offset 2"},
      {R"("\ud83d")", "half a surrogate pair at offset 7"},
      {R"("\ud83dA")", "half a surrogate pair at offset 7"},
      {R"("\ud83d\u0041")", "half a surrogate pair at offset 13"},
      {R"("\ude00")", "half a surrogate pair at offset 7"},
  });
}

TEST(JsonParse, ErrorsNameTheMistakeAndItsPlace) {
  expect_all({
      {"", "unexpected end at offset 0"},
      {"[", "unexpected end at offset 1"},
      {"[1,]", "unexpected character at offset 3"},
      {"[1 2]", "expected a comma or a closing bracket at offset 3"},
      {R"({"k": 2)", "expected a comma or a closing brace at offset 7"},
      {R"({"k": 2 "l": 3})", "expected a comma or a closing brace at offset 8"},
      {"{k: 2}", "expected a name at offset 1"},
      {R"({"k": 2,})", "expected a name at offset 8"},
      {R"({"k" 2})", "expected a colon at offset 5"},
      {R"({"k":})", "unexpected character at offset 5"},
      {"NaN", "unexpected character at offset 0"},
      {"'a'", "unexpected character at offset 0"},
      {"+1", "unexpected character at offset 0"},
      {"-", "unexpected character at offset 1"},
      {"nul", "unexpected character at offset 0"},
      {"nullx", "unexpected text after the value at offset 4"},
      {"1 2", "unexpected text after the value at offset 2"},
      {"01", "leading zeros are not allowed at offset 2"},
      {"1.", "expected a digit at offset 2"},
      {"1e", "expected a digit at offset 2"},
      {"1e+", "expected a digit at offset 3"},
      {"\"a\tb\"", "control characters must be escaped at offset 3"},
      {"\"abc", "unexpected end of a string at offset 4"},
  });
}

TEST(JsonParse, LimitsTheDepth) {
  const auto nested = [](size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); };
  EXPECT_TRUE(parse_json(nested(101)).has_value());
  EXPECT_EQ(parsed(nested(102)), "nested too deeply at offset 101");
  std::string objects;
  for (int i = 0; i < 102; ++i) objects += R"({"a":)";
  EXPECT_EQ(parsed(objects), "nested too deeply at offset 505");
}

}  // namespace
}  // namespace sibyl::plan
