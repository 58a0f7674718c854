// Caching, compression and speculative retry.
#include "plan/options/storage.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/ascii.h"
#include "plan/options/option_text.h"
#include "plan/options/options.h"
#include "types/print.h"

namespace sibyl::plan {

using base::ErrorCode;

namespace {

constexpr std::string_view compression_package = "org.apache.cassandra.io.compress.";

bool is_true(const std::string& text) {
  return base::equal_ignoring_case(text, "true");
}

base::Result<std::string> rows_per_partition(const std::string& text) {
  const std::string folded = base::ascii_upper(text);
  if (folded == "ALL" || folded == "NONE") return folded;
  int32_t rows = 0;
  const bool digits =
      !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
  if (!digits || !parse_int32(text, rows)) {
    return config_error(
        fmt::format("Invalid value '{}' for caching sub-option 'rows_per_partition': only 'ALL', 'NONE', and "
                    "integer values are "
                    "allowed",
                    text));
  }
  if (rows == 0) return "NONE";
  return rows == std::numeric_limits<int32_t>::max() ? "ALL" : std::to_string(rows);
}

base::Result<std::string> compressor_class(const std::string& name) {
  const std::string full =
      name.find('.') == std::string::npos ? std::string(compression_package) + name : name;
  for (const char* known :
       {"LZ4Compressor", "SnappyCompressor", "DeflateCompressor", "ZstdCompressor", "NoopCompressor"})
    if (full == std::string(compression_package) + known) return full;
  return config_error("Could not create Compression for type " + full);
}

base::Status check_lz4(const std::string& name, const std::string& value) {
  if (name == "lz4_compressor_type") {
    if (value == "high" || value == "fast") return {};
    return config_error(
        fmt::format("Invalid compressor type '{}' specified for LZ4 parameter 'lz4_compressor_type'. Valid "
                    "options are [high, fast].",
                    value));
  }
  int32_t level = 0;
  if (parse_int32(value, level) && level >= 1 && level <= 17) return {};
  return config_error(fmt::format(
      "Invalid value [{}] for parameter 'lz4_high_compressor_level'. Value must be between 1 and 17.",
      value));
}

base::Status check_zstd(const std::string& value) {
  constexpr int32_t lowest = -131'072, highest = 22;
  int32_t level = 0;
  if (!parse_int32(value, level)) {
    return config_error(fmt::format(
        "ZstdCompressor.create() threw an error: java.lang.NumberFormatException For input string: \"{}\"",
        value));
  }
  if (level >= lowest && level <= highest) return {};
  return config_error(
      fmt::format("ZstdCompressor.create() threw an error: java.lang.IllegalArgumentException "
                  "compression_level={} is invalid",
                  level));
}

// Checks the sub-options that only this compressor has.
base::Status check_compressor(const std::string& class_name, const OptionMap& others) {
  for (const auto& [name, value] : others) {
    const bool is_lz4 = class_name.ends_with(".LZ4Compressor") &&
                        (name == "lz4_compressor_type" || name == "lz4_high_compressor_level");
    const bool is_zstd = class_name.ends_with(".ZstdCompressor") && name == "compression_level";
    if (is_lz4) SIBYL_TRY(check_lz4(name, value));
    if (is_zstd) SIBYL_TRY(check_zstd(value));
    if (!is_lz4 && !is_zstd) return config_error("Unknown compression options " + name);
  }
  return {};
}

base::Result<int32_t> chunk_length_kib(OptionMap& options) {
  auto found = options.find("chunk_length_in_kb");
  if (found == options.end()) return 16;
  int32_t length = 0;
  if (!parse_int32(found->second, length)) return config_error("Invalid value for chunk_length_in_kb");
  if (length > std::numeric_limits<int32_t>::max() / 1024)
    return config_error(fmt::format("Value of chunk_length_in_kb is too large ({})", length));
  options.erase(found);
  return length;
}

base::Result<double> min_compress_ratio(OptionMap& options) {
  auto found = options.find("min_compress_ratio");
  if (found == options.end()) return 0.0;
  double ratio = 0;
  if (!parse_double(found->second, ratio))
    return config_error(fmt::format("For input string: \"{}\"", found->second));
  options.erase(found);
  return ratio;
}

base::Status check_chunks(int32_t chunk_length, double ratio) {
  if (chunk_length <= 0) return config_error("Invalid negative or null chunk_length_in_kb");
  if ((chunk_length & (chunk_length - 1)) != 0)
    return config_error("chunk_length_in_kb must be a power of 2");
  if (ratio < 0) return config_error("Invalid negative min_compress_ratio");
  if (ratio > 0 && ratio < 1)
    return config_error("min_compress_ratio can either be 0 or greater than or equal to 1");
  return {};
}

// "99p", "99.9PERCENTILE", "50ms" as Cassandra prints them; empty if the text is none of these.
base::Result<std::string> simple_policy(const std::string& text, const std::string& whole) {
  std::string folded = base::ascii_upper(text);
  double number = 0;
  const auto starts_with_digit = [](std::string_view digits) {
    return !digits.empty() && digits[0] >= '0' && digits[0] <= '9';
  };
  for (std::string_view suffix : {"PERCENTILE", "P"}) {
    if (!folded.ends_with(suffix)) continue;
    const std::string digits = folded.substr(0, folded.size() - suffix.size());
    if (!starts_with_digit(digits) || !parse_double(digits, number)) return std::string();
    if (number <= 0 || number >= 100) {
      return config_error(fmt::format(
          "Invalid value {} for PERCENTILE option 'speculative_retry': must be between (0.0 and 100.0)",
          whole));
    }
    std::string printed = types::format_double(number);
    if (printed.ends_with(".0")) printed.resize(printed.size() - 2);
    return printed + "p";
  }
  if (folded.ends_with("MS")) {
    const std::string digits = folded.substr(0, folded.size() - 2);
    if (!starts_with_digit(digits) || !parse_double(digits, number)) return std::string();
    return fmt::format("{}ms", static_cast<int64_t>(number));
  }
  return std::string();
}

std::string_view trim(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

base::Result<std::string> hybrid_policy(const std::string& whole, const std::string& folded) {
  const auto refuse = [&] {
    return config_error(fmt::format("Invalid value {} for option 'speculative_retry'", whole));
  };
  const size_t comma = folded.find(',');
  if (comma == std::string::npos || !folded.ends_with(')')) return refuse();
  const std::string first(trim(std::string_view(folded).substr(4, comma - 4)));
  const std::string second(trim(std::string_view(folded).substr(comma + 1, folded.size() - comma - 2)));
  SIBYL_ASSIGN(std::string left, simple_policy(first, first));
  SIBYL_ASSIGN(std::string right, simple_policy(second, second));
  if (left.empty() || right.empty()) return refuse();
  const bool left_is_fixed = left.ends_with("ms"), right_is_fixed = right.ends_with("ms");
  if (left_is_fixed == right_is_fixed) {
    return config_error(
        fmt::format("Invalid value {} for option 'speculative_retry': MIN()/MAX() arguments should be of "
                    "different types, but both "
                    "are of type {}",
                    whole, left_is_fixed ? "FIXED" : "PERCENTILE"));
  }
  if (left_is_fixed) std::swap(left, right);
  return fmt::format("{}({},{})", folded.substr(0, 3), left, right);
}

}  // namespace

base::Result<OptionMap> read_caching(const OptionMap& given) {
  OptionMap rest = given;
  OptionMap caching = {{"keys", "NONE"}, {"rows_per_partition", "NONE"}};
  if (auto keys = rest.find("keys"); keys != rest.end()) {
    caching["keys"] = base::ascii_upper(keys->second);
    if (caching["keys"] != "ALL" && caching["keys"] != "NONE") {
      return config_error(
          fmt::format("Invalid value '{}' for caching sub-option 'keys': only 'ALL' and 'NONE' are allowed",
                      keys->second));
    }
    rest.erase(keys);
  }
  if (auto rows = rest.find("rows_per_partition"); rows != rest.end()) {
    SIBYL_ASSIGN(caching["rows_per_partition"], rows_per_partition(rows->second));
    rest.erase(rows);
  }
  if (rest.empty()) return caching;
  std::string names;
  for (const auto& [name, value] : rest) names += (names.empty() ? "" : ", ") + name;
  return config_error(fmt::format(
      "Invalid caching sub-options [{}]: only 'keys' and 'rows_per_partition' are allowed", names));
}

base::Result<OptionMap> read_compression(const OptionMap& given) {
  OptionMap rest = given;
  bool enabled = true;
  if (auto found = rest.find("enabled"); found != rest.end()) {
    enabled = is_true(found->second);
    rest.erase(found);
  }
  if (!given.empty() && enabled && !rest.contains("class"))
    return config_error("Missing sub-option 'class' for the 'compression' option.");
  if (!enabled && !rest.empty())
    return config_error("If the 'enabled' option is set to false no other options must be specified");
  if (!rest.contains("class")) return OptionMap{{"enabled", "false"}};

  const std::string name = rest["class"];
  rest.erase("class");
  if (name.empty())
    return config_error("The 'class' option must not be empty. To disable compression use 'enabled' : false");
  SIBYL_ASSIGN(const int32_t chunk_length, chunk_length_kib(rest));
  SIBYL_ASSIGN(const double ratio, min_compress_ratio(rest));
  SIBYL_ASSIGN(const std::string class_name, compressor_class(name));
  SIBYL_TRY(check_compressor(class_name, rest));
  SIBYL_TRY(check_chunks(chunk_length, ratio));
  rest["class"] = class_name;
  rest["chunk_length_in_kb"] = std::to_string(chunk_length);
  if (ratio != 0) rest["min_compress_ratio"] = types::format_double(ratio);
  return rest;
}

base::Result<std::string> read_speculative_retry(const std::string& given) {
  const std::string folded = base::ascii_upper(given);
  if (folded == "ALWAYS") return folded;
  if (folded == "NEVER" || folded == "NONE") return "NEVER";
  if (folded.starts_with("MIN(") || folded.starts_with("MAX(")) return hybrid_policy(given, folded);
  SIBYL_ASSIGN(std::string policy, simple_policy(given, given));
  if (policy.empty())
    return config_error(fmt::format("Invalid value {} for option 'speculative_retry'", given));
  return policy;
}

}  // namespace sibyl::plan
