// Parses the `name=value` options of directives and checks the values.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "advisor/workload/reader.h"

namespace sibyl::advisor {
namespace {

enum class Quantity { number, bytes, seconds, rate, skew, machines, arrival, time, word };

struct Meaning {
  std::string_view name;
  Quantity unit;
};

constexpr std::array meanings = {
    Meaning{"size", Quantity::bytes},      Meaning{"partition", Quantity::bytes},
    Meaning{"space", Quantity::bytes},     Meaning{"row", Quantity::bytes},
    Meaning{"horizon", Quantity::seconds}, Meaning{"retention", Quantity::seconds},
    Meaning{"slo_p50", Quantity::seconds}, Meaning{"slo_p99", Quantity::seconds},
    Meaning{"latency", Quantity::seconds}, Meaning{"rate", Quantity::rate},
    Meaning{"growth", Quantity::rate},     Meaning{"reads", Quantity::rate},
    Meaning{"writes", Quantity::rate},     Meaning{"partition_rate", Quantity::rate},
    Meaning{"nodes", Quantity::machines},  Meaning{"rf", Quantity::machines},
    Meaning{"vnodes", Quantity::machines}, Meaning{"skew", Quantity::skew},
    Meaning{"span", Quantity::seconds},    Meaning{"arrival", Quantity::arrival},
    Meaning{"time", Quantity::time},       Meaning{"of", Quantity::word}};

struct Wording {
  bool fits;
  const char* expected;
};

// Larger than any real quantity, but small enough that products stay finite.
constexpr double most = 1e18;
constexpr double max_machines = 1000;

bool is_within(std::optional<double> value) {
  return value && *value <= most;
}

Wording check(std::string_view name, std::string_view value) {
  const auto found =
      std::find_if(meanings.begin(), meanings.end(), [&](const Meaning& m) { return m.name == name; });
  switch (found == meanings.end() ? Quantity::number : found->unit) {
    case Quantity::number:
      return {is_within(read_number(value)), "a number such as 20000, 2e4 or 20k, at most 1e18,"};
    case Quantity::bytes:
      return {is_within(read_bytes(value)), "a size such as 100MB, at most 1e18,"};
    case Quantity::seconds:
      return {is_within(read_seconds(value)), "a duration such as 10ms or 3y"};
    case Quantity::rate:
      return {is_within(read_rate(value)), "a rate such as 160/s, at most 1e18,"};
    case Quantity::skew:
      return {read_zipf(value).has_value(), "zipf(EXPONENT)"};
    case Quantity::machines: {
      const std::optional<double> count = read_number(value);
      return {count && *count >= 1 && *count <= max_machines && *count == std::floor(*count),
              "a whole number from 1 to 1000"};
    }
    case Quantity::arrival:
      return {value == "regular" || value == "random", "regular or random"};
    case Quantity::time:
      return {ticks_of_time(value).has_value(), "s, ms, us, ns or snowflake"};
    case Quantity::word:
      break;
  }
  return {true, ""};
}

}  // namespace

base::Result<Option> WorkloadReader::read_option(TokenReader& reader) {
  Option option;
  option.line = reader.peek().line;
  option.column = reader.peek().column;
  SIBYL_ASSIGN(const Token name, reader.expect_word("NAME=VALUE"));
  option.name = name.text;
  SIBYL_TRY(reader.expect_sign("="));
  SIBYL_ASSIGN(const Token value, reader.expect_word(fmt::format("a value for {}", option.name)));
  option.value = value.text;
  // zipf(0.9): the parenthesis must follow immediately.
  if (reader.is_sign("(") && reader.peek().line == value.line &&
      reader.peek().column == value.column + value.text.size()) {
    reader.next();
    SIBYL_ASSIGN(const Token argument, reader.expect_word("a number"));
    SIBYL_TRY(reader.expect_sign(")"));
    option.value += "(" + argument.text + ")";
  }
  return option;
}

base::Result<Options> WorkloadReader::read_options(TokenReader& reader,
                                                   const std::vector<std::string>& known) {
  Options options;
  while (reader.peek().kind == Token::Kind::word && reader.is_sign("=", 1)) {
    const Token name = reader.peek(), value = reader.peek(2);
    SIBYL_ASSIGN(Option option, read_option(reader));
    if (std::find(known.begin(), known.end(), option.name) == known.end())
      return reader.unknown(name, "option", option.name, known);
    if (const Wording wording = check(option.name, option.value); !wording.fits)
      return reader.fail(
          value, fmt::format("expected {} for {}, found '{}'", wording.expected, option.name, option.value));
    options.push_back(std::move(option));
    if (reader.is_sign(",") && reader.is_sign("=", 2)) reader.next();
  }
  return options;
}

}  // namespace sibyl::advisor
