#include "plan/java/java.h"

#include <gmock/gmock.h>

#include <array>

#include "types/literals/literal.h"
#include "types/print_value.h"

namespace sibyl::plan {
namespace {

using testing::HasSubstr;
using types::Kind;
using types::TypePtr;
using types::ValueView;

base::Result<std::shared_ptr<const JavaFunction>> compile(const std::string& body,
                                                          Kind parameter = Kind::text,
                                                          Kind returns = Kind::text) {
  return JavaFunction::compile({{"a"}, {types::scalar(parameter)}, types::scalar(returns), true, body});
}

// The result of a body with a text `a` as a literal, "null", or the exception or the compiler's message.
std::string run(const std::string& body, std::string_view argument = "abc") {
  const auto function = compile(body);
  if (!function) return function.error().message();
  const auto result = (*function)->call(std::array{ValueView::of(argument)});
  if (!result) return result.error().message();
  return *result ? types::to_literal(*types::scalar(Kind::text), **result) : "null";
}

std::string repeated(const std::string& text, int times) {
  std::string out;
  for (int i = 0; i < times; ++i) out += text;
  return out;
}

// tests/compat/java_functions.cql has the results of Cassandra. Here are the refusals by name, which Cassandra accepts.
TEST(JavaFunction, NamesWhatIsNotSupported) {
  const std::pair<const char*, const char*> cases[] = {
      {"for (int i = 0; i < 3; i++) a += i; return a;", "Line 1: 'for' is not supported here"},
      {"while (true) { }", "Line 1: 'while' is not supported here"},
      {"int x; x = 1; return a;", "Line 1: ';' is not supported here"},
      {"return new String(a);", "Line 1: 'new' is not supported here"},
      {"\nreturn a.matches(\"x\");", "Line 2: String.matches(String) is not supported"},
      {"return String.format(\"%s\", a);", "Line 1: String.format(String, String) is not supported"},
      {"return Math.random() + a;", "Line 1: Math.random() is not supported"},
      {"System.exit(1); return a;", "Line 1: 'System' is not supported here"},
      {"a.trim(); return a;", "Line 1: the statement a.trim() is not supported"},
      {"return System.getProperty(a);", "Line 1: 'System' is not supported here"},
      {"return a == \"x\" ? a : null;",
       "Line 1: '==' of two objects is not supported: it compares references. Use equals()"},
      {"return a.length > 1 ? a : null;", "Line 1: the field 'length' is not supported"},
      {"throw new java.io.IOException();", "Line 1: the exception java is not supported"},
      {"return 017 + a;", "Line 1: an octal number is not supported"},
      {"return 0b1 + a;", "Line 1: the number '0b' is not supported"},
      {"return \"\\u0041\";", "Line 1: the escape sequence '\\u' is not supported"},
      {"return a;}", "Line 1: '}' is not supported here"},
      {"return (a;", "Line 1: ';' is not supported here"},
      {"return", "Line 1: an expression is missing at the end"},
      {"if (a == null) return a;", "Line 1: This method must return a result of type String"},
      {"return a + #;", "Line 1: '#' is not supported"},
      {"return a /* x", "Line 1: Unexpected end of comment"},
      {"return \"abc", "Line 1: String literal is not properly closed by a double-quote"},
  };
  for (const auto& [body, message] : cases) EXPECT_EQ(run(body), message) << body;
}

// Evaluation recurses over the expression.
TEST(JavaFunction, DepthAndLengthAreLimited) {
  EXPECT_EQ(run("return " + repeated("(", 90) + "a" + repeated(")", 90) + ";"), "'abc'");
  EXPECT_THAT(run("return " + repeated("(", 100'000) + "a" + repeated(")", 100'000) + ";"),
              HasSubstr("not supported"));
  EXPECT_THAT(run("return " + repeated("-", 100'000) + "1;"), HasSubstr("not supported"));
  EXPECT_THAT(run("return " + repeated("(int) ", 100'000) + "1;"), HasSubstr("not supported"));
  EXPECT_THAT(run("return a" + repeated(" + 1", 499) + ";"), HasSubstr("'abc11"));
  EXPECT_EQ(run("return a" + repeated(" + 1", 501) + ";"),
            "Line 1: an expression of this length is not supported");
  EXPECT_EQ(run("return a" + repeated(".trim()", 501) + ";"),
            "Line 1: an expression of this length is not supported");
  EXPECT_EQ(run("return " + repeated("a == null ? a : ", 501) + "a;"),
            "Line 1: an expression of this depth is not supported");
  EXPECT_THAT(run(repeated("{", 100'000) + "return a;" + repeated("}", 100'000)), HasSubstr("not supported"));
  EXPECT_THAT(run(repeated("if (a == null) ", 1'000) + "return a; return a;"), HasSubstr("not supported"));
  EXPECT_EQ(run(repeated("a = a;", 5'000) + "return a;"), "Line 1: a body of this length is not supported");
}

TEST(JavaFunction, TextsOfACallAreLimited) {
  const std::string too_much =
      "java.lang.OutOfMemoryError: the texts of one call have more than 8,388,608 characters";
  EXPECT_EQ(run("String s = a;" + repeated("s += s;", 60) + "return s;"), too_much);
  EXPECT_EQ(run("return a.repeat(2147483647);"), too_much);
  EXPECT_EQ(run("return a.repeat(1000000).replace(\"\", \"xxxxxxxxxxxxxxxx\");"), too_much);
  EXPECT_EQ(
      run(repeated("if (a.length() == 1) return a;", 100) + "return \"end\";", std::string(1 << 20, 'x')),
      too_much);
  EXPECT_EQ(run("return \"\" + a.contains(a.substring(100000) + \"b\");", std::string(400'000, 'x')),
            "java.lang.IllegalStateException: a search in texts of this size is not supported");
}

// Half of a surrogate pair has no UTF-8.
TEST(JavaFunction, LoneSurrogatesAreQuestionMarks) {
  EXPECT_EQ(run("return a.substring(1);", "\xF0\x9F\x98\x80"), "'?'");
  EXPECT_EQ(run("return a.substring(0, 1) + a.substring(1);", "\xF0\x9F\x98\x80"), "'\xF0\x9F\x98\x80'");
}

}  // namespace
}  // namespace sibyl::plan
