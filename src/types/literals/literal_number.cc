#include "types/literals/literal_number.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <limits>
#include <vector>

#include "base/statement.h"
#include "types/literals/scan.h"
#include "types/number.h"

namespace sibyl::types {
namespace {

// Converts digits to a number, splitting them in halves: long numbers cost a few multiplications instead of
// one pass per digit.
class DigitParser {
 public:
  BigInteger parse(std::string_view digits) {
    if (digits.size() <= piece) {
      uint64_t value = 0;
      std::from_chars(digits.data(), digits.data() + digits.size(), value);
      return value;
    }
    base::count_work(static_cast<int64_t>(digits.size()));
    size_t level = 0;
    while ((piece << (level + 1)) < digits.size()) ++level;
    const size_t low = piece << level;
    return parse(digits.substr(0, digits.size() - low)) * power(level) +
           parse(digits.substr(digits.size() - low));
  }

 private:
  static constexpr size_t piece = 18;

  // 10^(18 * 2^level)
  const BigInteger& power(size_t level) {
    if (powers_.empty()) powers_.emplace_back(1'000'000'000'000'000'000);
    while (powers_.size() <= level) powers_.push_back(powers_.back() * powers_.back());
    return powers_[level];
  }

  std::vector<BigInteger> powers_;
};

// This many digits always fit into max_number_bytes, because 8 bits are 2.408 digits.
constexpr size_t max_digits = max_number_bytes * 2408 / 1000;

std::unexpected<base::Error> too_long(size_t digits) {
  return base::invalid(fmt::format("A number may have at most {} digits ({})", max_digits, digits));
}

BigInteger from_digits(std::string_view digits, bool negative) {
  BigInteger value = DigitParser().parse(digits);
  if (negative) value = -value;
  return value;
}

bool accept_sign(Scanner& scanner) {
  const bool negative = scanner.accept('-');
  if (!negative) scanner.accept('+');
  return negative;
}

// Accepts an optional exponent: e or E and an integer.
bool accept_exponent(Scanner& scanner, int64_t& exponent) {
  if (!scanner.accept('e') && !scanner.accept('E')) return true;
  const bool negative = accept_sign(scanner);
  std::string_view digits;
  if (!scanner.digits(1, std::numeric_limits<size_t>::max(), digits)) return false;
  while (digits.size() > 1 && digits[0] == '0') digits.remove_prefix(1);
  constexpr size_t max_digits = 10;
  if (digits.size() > max_digits) digits = "9999999999";
  parse_integer(digits, exponent);
  if (negative) exponent = -exponent;
  return true;
}

// An unsigned number such as 12.5e-3.
struct DecimalText {
  std::string_view whole, fraction;
  int64_t exponent = 0;
};

// Takes the rest of the text. Returns false if it is not a number.
bool take_decimal(Scanner& scanner, DecimalText& number) {
  constexpr size_t any = std::numeric_limits<size_t>::max();
  scanner.digits(0, any, number.whole);
  if (scanner.accept('.')) scanner.digits(0, any, number.fraction);
  if (number.whole.empty() && number.fraction.empty()) return false;
  return accept_exponent(scanner, number.exponent) && scanner.at_end();
}

// Returns the position of the first non-zero digit as an exponent of ten: 0 means right after the point.
int64_t magnitude(const DecimalText& number) {
  const auto& [whole, fraction, exponent] = number;
  const size_t in_whole = whole.find_first_not_of('0');
  if (in_whole != std::string_view::npos) return static_cast<int64_t>(whole.size() - in_whole) + exponent;
  const size_t in_fraction = fraction.find_first_not_of('0');
  return exponent - (in_fraction == std::string_view::npos ? 0 : static_cast<int64_t>(in_fraction));
}

// Too large numbers become infinity and too small ones zero, as in Java.
template <typename Float>
bool parse_decimal_float(std::string_view text, Float& value) {
  Scanner scanner(text);
  DecimalText number;
  if (!take_decimal(scanner, number)) return false;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc::result_out_of_range)
    value = magnitude(number) > 0 ? std::numeric_limits<Float>::infinity() : Float{0};
  return true;
}

// Parses a number such as 0x1.8p3. The binary exponent is mandatory.
template <typename Float>
bool parse_hex_float(std::string_view text, Float& value) {
  const size_t mark = text.find_first_of("pP");
  if (mark == std::string_view::npos || mark == 0) return false;
  std::string_view exponent = text.substr(mark + 1);
  int64_t number = 0;
  if (!parse_integer(exponent, number)) return false;
  std::string plain(text.substr(0, mark));
  plain += fmt::format("p{}", number);
  const auto [end, error] =
      std::from_chars(plain.data(), plain.data() + plain.size(), value, std::chars_format::hex);
  if (error == std::errc::invalid_argument || end != plain.data() + plain.size()) return false;
  if (error == std::errc::result_out_of_range)
    value = number > 0 ? std::numeric_limits<Float>::infinity() : Float{0};
  return true;
}

template <typename Float>
bool parse_java_float(std::string_view text, Float& value) {
  Scanner scanner(trim(text));
  const bool negative = accept_sign(scanner);
  std::string_view rest = scanner.rest();
  if (rest == "NaN") {
    value = std::numeric_limits<Float>::quiet_NaN();
    return true;
  }
  bool found = rest == "Infinity";
  if (found) {
    value = std::numeric_limits<Float>::infinity();
  } else {
    if (!rest.empty() && std::string_view("fFdD").find(rest.back()) != std::string_view::npos &&
        (rest.size() < 2 || (rest[1] != 'x' && rest[1] != 'X') ||
         rest.find_first_of("pP") != std::string_view::npos))
      rest.remove_suffix(1);
    const bool hexadecimal = rest.starts_with("0x") || rest.starts_with("0X");
    found = hexadecimal ? parse_hex_float(rest.substr(2), value) : parse_decimal_float(rest, value);
  }
  if (negative) value = -value;
  return found;
}

}  // namespace

bool parse_integer(std::string_view text, int64_t& value) {
  if (text.starts_with('+')) {
    text.remove_prefix(1);
    if (text.starts_with('-')) return false;
  }
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

bool parse_double(std::string_view text, double& value) {
  return parse_java_float(text, value);
}
bool parse_float(std::string_view text, float& value) {
  return parse_java_float(text, value);
}

base::Result<Bytes> parse_varint(std::string_view digits) {
  Scanner scanner(digits);
  const bool negative = accept_sign(scanner);
  std::string_view found;
  if (!scanner.digits(1, std::numeric_limits<size_t>::max(), found) || !scanner.at_end())
    return base::invalid(fmt::format("unable to make int from '{}'", digits));
  if (found.size() > max_digits) return too_long(found.size());
  return encode_varint(from_digits(found, negative));
}

base::Result<Bytes> parse_decimal(std::string_view text) {
  const auto unable = [&] { return base::invalid(fmt::format("unable to make BigDecimal from '{}'", text)); };
  Scanner scanner(text);
  const bool negative = accept_sign(scanner);
  DecimalText number;
  if (!take_decimal(scanner, number)) return unable();
  const auto& [whole, fraction, exponent] = number;
  const int64_t scale = static_cast<int64_t>(fraction.size()) - exponent;
  if (scale != static_cast<int32_t>(scale)) return unable();
  if (whole.size() + fraction.size() > max_digits) return too_long(whole.size() + fraction.size());
  std::string digits(whole);
  digits += fraction;
  return encode_decimal(from_digits(digits, negative), static_cast<int32_t>(scale));
}

}  // namespace sibyl::types
