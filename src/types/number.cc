#include "types/number.h"

#include <algorithm>
#include <iterator>
#include <numbers>
#include <vector>

#include "base/statement.h"

namespace sibyl::types {
namespace {

void append_twos_complement(const BigInteger& value, Bytes& out) {
  if (value == 0) {
    out.push_back('\0');
    return;
  }
  // -x is ~(x - 1), so a negative number's bytes are the complement of those of |value| - 1.
  const bool negative = value < 0;
  const BigInteger magnitude = negative ? BigInteger(-value - 1) : value;
  std::vector<unsigned char> bytes;
  if (magnitude != 0) boost::multiprecision::export_bits(magnitude, std::back_inserter(bytes), 8);
  if (bytes.empty() || (bytes[0] & 0x80) != 0) bytes.insert(bytes.begin(), 0);
  const unsigned char flip = negative ? 0xff : 0;
  for (const unsigned char byte : bytes) out.push_back(static_cast<char>(byte ^ flip));
}

// Splits numbers in the middle of their digits until the pieces are small.
class DigitPrinter {
 public:
  void print(const BigInteger& value, std::string& out) {
    if (byte_size(value) <= small_bytes) {
      out += value.str();
      return;
    }
    size_t level = 0;
    while (power(level + 1) <= value) ++level;
    BigInteger high, low;
    divide(value, level, high, low);
    print(high, out);
    print_padded(low, level, out);
  }

 private:
  static constexpr size_t small_bytes = 128;
  static constexpr size_t first_digits = 144;

  // Writes as many digits as power(level) has zeros.
  void print_padded(const BigInteger& value, size_t level, std::string& out) {
    if (level == 0 || byte_size(value) <= small_bytes) {
      const std::string digits = value.str();
      out.append((first_digits << level) - digits.size(), '0');
      out += digits;
      return;
    }
    BigInteger high, low;
    divide(value, level - 1, high, low);
    print_padded(high, level - 1, out);
    print_padded(low, level - 1, out);
  }

  void divide(const BigInteger& value, size_t level, BigInteger& quotient, BigInteger& remainder) {
    const BigInteger& divisor = power(level);
    count_division(value, divisor);
    boost::multiprecision::divide_qr(value, divisor, quotient, remainder);
  }

  // 10^(144 * 2^level)
  const BigInteger& power(size_t level) {
    if (powers_.empty()) powers_.push_back(power_of_ten(first_digits));
    while (powers_.size() <= level) powers_.push_back(powers_.back() * powers_.back());
    return powers_[level];
  }

  std::vector<BigInteger> powers_;
};

}  // namespace

size_t byte_size(const BigInteger& value) {
  return value.backend().size() * sizeof(*value.backend().limbs());
}

void count_division(const BigInteger& value, const BigInteger& divisor) {
  const size_t by = byte_size(divisor), quotient = byte_size(value) > by ? byte_size(value) - by : 0;
  base::count_work(static_cast<int64_t>((quotient + 8) * by / 64));  // counts one step for each pair of limbs
}

std::string digits_of(const BigInteger& value) {
  std::string digits;
  DigitPrinter().print(value, digits);
  return digits;
}

int64_t count_digits(const BigInteger& value) {
  if (value == 0) return 1;
  // Since 2^top <= value < 2^(top + 1), the logarithms of the bounds differ by less than a digit.
  const auto top = static_cast<long double>(boost::multiprecision::msb(value));
  const long double log = std::numbers::log10e_v<long double> * std::numbers::ln2_v<long double>;
  const auto least = static_cast<int64_t>(top * log) + 1, most = static_cast<int64_t>((top + 1) * log) + 1;
  if (least == most) return least;
  return value < power_of_ten(static_cast<uint32_t>(least)) ? least : least + 1;
}

BigInteger power_of_ten(uint32_t exponent) {
  base::count_work(exponent);
  return boost::multiprecision::pow(BigInteger(10), exponent);
}

Bytes encode_varint(const BigInteger& value) {
  Bytes bytes;
  append_twos_complement(value, bytes);
  return bytes;
}

Bytes encode_decimal(const BigInteger& unscaled, int32_t scale) {
  Bytes bytes;
  base::append_big_endian(bytes, static_cast<uint32_t>(scale));
  append_twos_complement(unscaled, bytes);
  return bytes;
}

BigInteger decode_varint(BytesView bytes) {
  BigInteger value;
  if (bytes.empty()) return value;
  const bool negative = (static_cast<unsigned char>(bytes[0]) & 0x80) != 0;
  if (!negative) {
    boost::multiprecision::import_bits(value, reinterpret_cast<const unsigned char*>(bytes.data()),
                                       reinterpret_cast<const unsigned char*>(bytes.data() + bytes.size()),
                                       8);
    return value;
  }
  std::vector<unsigned char> complement(bytes.size());
  std::transform(bytes.begin(), bytes.end(), complement.begin(),
                 [](char c) { return static_cast<unsigned char>(~static_cast<unsigned char>(c)); });
  boost::multiprecision::import_bits(value, complement.begin(), complement.end(), 8);
  return -value - 1;
}

void decode_decimal(BytesView bytes, BigInteger& unscaled, int32_t& scale) {
  scale = static_cast<int32_t>(base::read_big_endian<uint32_t>(bytes));
  unscaled = decode_varint(bytes.substr(4));
}

}  // namespace sibyl::types
