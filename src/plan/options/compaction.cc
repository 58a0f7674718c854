#include "plan/options/compaction.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "base/ascii.h"
#include "plan/options/option_text.h"
#include "plan/options/options.h"
#include "types/print.h"

namespace sibyl::plan {

using base::ErrorCode;

namespace {

constexpr std::string_view compaction_package = "org.apache.cassandra.db.compaction.";

bool is_boolean(const std::string& text) {
  return base::equal_ignoring_case(text, "true") || base::equal_ignoring_case(text, "false");
}

bool is_numeric(const std::string& text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

std::unexpected<base::Error> not_an_integer(const std::string& value, const std::string& name) {
  return config_error(fmt::format("{} is not a parsable int (base10) for {}", value, name));
}

// Checks one strategy's sub-options. Every sub-option that was checked is a known one.
class Checker {
 public:
  explicit Checker(const OptionMap& options) : options_(options) { known_.insert("class"); }

  base::Status common() {
    if (const std::string* value = take("tombstone_threshold")) {
      double threshold = 0;
      if (!parse_double(*value, threshold)) return not_an_integer(*value, "tombstone_threshold");
      if (threshold < 0)
        return config_error(
            fmt::format("tombstone_threshold must be greater than 0, but was {:.6f}", threshold));
    }
    if (const std::string* value = take("tombstone_compaction_interval")) {
      int64_t interval = 0;
      if (!parse_int64(*value, interval)) return not_an_integer(*value, "tombstone_compaction_interval");
      if (interval < 0)
        return config_error(
            fmt::format("tombstone_compaction_interval must be greater than 0, but was {}", interval));
    }
    if (const std::string* value = take("unchecked_tombstone_compaction"); value && !is_boolean(*value)) {
      return config_error(fmt::format(
          "'unchecked_tombstone_compaction' should be either 'true' or 'false', not '{}'", *value));
    }
    if (const std::string* value = take("log_all"); value && !is_boolean(*value))
      return config_error(fmt::format("'log_all' should either be 'true' or 'false', not {}", *value));
    if (const std::string* value = take("enabled"); value && !is_boolean(*value))
      return config_error(fmt::format("enabled should either be 'true' or 'false', not {}", *value));
    take("only_purge_repaired_tombstones");
    take("provide_overlapping_tombstones");
    return {};
  }

  base::Status size_tiered() {
    if (const std::string* value = take("min_sstable_size")) {
      int64_t size = 0;
      if (!parse_int64(*value, size)) return not_an_integer(*value, "min_sstable_size");
      if (size < 0) return config_error(fmt::format("min_sstable_size must be non negative: {}", size));
    }
    double low = 0.5, high = 1.5;
    if (const std::string* value = take("bucket_low"); value && !parse_double(*value, low))
      return config_error(fmt::format("{} is not a parsable float for bucket_low", *value));
    if (const std::string* value = take("bucket_high"); value && !parse_double(*value, high))
      return config_error(fmt::format("{} is not a parsable float for bucket_high", *value));
    if (high <= low) {
      return config_error(
          fmt::format("bucket_high value ({}) is less than or equal to the bucket_low value ({})",
                      types::format_double(high), types::format_double(low)));
    }
    return {};
  }

  base::Status leveled() {
    for (const char* name : {"sstable_size_in_mb", "fanout_size"}) {
      const std::string* value = take(name);
      int32_t number = 0;
      if (!value) continue;
      if (!parse_int32(*value, number)) return not_an_integer(*value, name);
      if (number < 1) return config_error(fmt::format("{} must be larger than 0, but was {}", name, number));
    }
    take("single_sstable_uplevel");
    return size_tiered();
  }

  base::Status time_window() {
    static const std::set<std::string_view> resolutions = {"SECONDS", "MILLISECONDS", "MICROSECONDS",
                                                           "NANOSECONDS"};
    static const std::set<std::string_view> windows = {"MINUTES", "HOURS", "DAYS"};
    if (const std::string* value = take("timestamp_resolution"); value && !resolutions.contains(*value))
      return config_error(fmt::format("{} is not valid for timestamp_resolution", *value));
    if (const std::string* value = take("compaction_window_unit"); value && !windows.contains(*value))
      return config_error(fmt::format("{} is not valid for compaction_window_unit", *value));
    if (const std::string* value = take("compaction_window_size")) {
      int32_t size = 0;
      if (!parse_int32(*value, size)) return not_an_integer(*value, "compaction_window_size");
      if (size < 1)
        return config_error(fmt::format("{} must be greater than 1 for compaction_window_size", size));
    }
    SIBYL_TRY(expiration());
    return size_tiered();
  }

  base::Status unified() {
    if (const std::string* value = take("scaling_parameters")) SIBYL_TRY(scaling_parameters(*value));
    for (const char* name : {"target_sstable_size", "min_sstable_size", "flush_size_override"}) {
      if (const std::string* value = take(name)) SIBYL_TRY(size(*value, name));
    }
    if (const std::string* value = take("base_shard_count")) {
      int32_t count = 0;
      if (!parse_int32(*value, count)) return not_an_integer(*value, "base_shard_count");
      if (count <= 0)
        return config_error(
            fmt::format("Invalid configuration, base_shard_count should be positive: {}", count));
    }
    for (const char* name : {"sstable_growth", "max_sstables_to_compact", "overlap_inclusion_method"})
      take(name);
    return expiration();
  }

  base::Status thresholds() {
    take("min_threshold");
    take("max_threshold");
    return {};
  }

  base::Status nothing_left(const std::string& strategy) const {
    std::string unknown;
    for (const auto& [name, value] : options_)
      if (!known_.contains(name)) unknown += (unknown.empty() ? "" : ", ") + name;
    if (unknown.empty()) return {};
    return config_error(fmt::format("Properties specified [{}] are not understood by {}", unknown, strategy));
  }

 private:
  const std::string* take(const std::string& name) {
    known_.insert(name);
    auto found = options_.find(name);
    return found == options_.end() ? nullptr : &found->second;
  }

  base::Status expiration() {
    const std::string frequency_name = "expired_sstable_check_frequency_seconds";
    if (const std::string* value = take(frequency_name)) {
      int64_t frequency = 0;
      if (!parse_int64(*value, frequency)) return not_an_integer(*value, frequency_name);
      if (frequency < 0)
        return config_error(fmt::format("{} must not be negative, but was {}", frequency_name, frequency));
    }
    if (const std::string* value = take("unsafe_aggressive_sstable_expiration"); value && !is_boolean(*value))
      return config_error(
          fmt::format("unsafe_aggressive_sstable_expiration is not 'true' or 'false' ({})", *value));
    return {};
  }

  static base::Status scaling_parameters(const std::string& list) {
    size_t begin = 0;
    while (begin <= list.size()) {
      const size_t comma = std::min(list.find(',', begin), list.size());
      std::string_view part(list.data() + begin, comma - begin);
      while (!part.empty() && part.front() == ' ') part.remove_prefix(1);
      while (!part.empty() && part.back() == ' ') part.remove_suffix(1);
      std::string_view digits = part;
      if (!digits.empty() && std::string_view("LT+-").find(digits.front()) != std::string_view::npos)
        digits.remove_prefix(1);
      if (part != "N" && !is_numeric(std::string(digits)))
        return config_error(
            fmt::format("Scaling parameter {} must match N|L[0-9]+|T[0-9]+|[+-]?[0-9]+", part));
      begin = comma + 1;
    }
    return {};
  }

  // "1GiB", "64 MiB", "1048576B".
  static base::Status size(const std::string& text, const std::string& name) {
    constexpr double mebibyte = 1024.0 * 1024.0;
    std::string_view rest = text;
    if (!rest.ends_with('B'))
      return config_error(
          fmt::format("{} {} is not a valid size in bytes: {} does not end in unit B", name, text, text));
    rest.remove_suffix(1);
    if (rest.ends_with('i')) rest.remove_suffix(1);
    double scale = 1;
    const size_t unit = rest.empty() ? std::string_view::npos : std::string_view("KMGT").find(rest.back());
    if (unit != std::string_view::npos) {
      rest.remove_suffix(1);
      scale = std::pow(1024.0, static_cast<double>(unit) + 1);
    }
    double number = 0;
    if (!parse_double(rest, number))
      return config_error(fmt::format("{} {} is not a valid size in bytes: {}", name, text, text));
    if (name == "target_sstable_size" && number * scale < mebibyte)
      return config_error(fmt::format("{} {} is not acceptable, size must be at least 1.000MiB", name, text));
    return {};
  }

  const OptionMap& options_;
  std::set<std::string> known_;
};

int64_t threshold_of(const OptionMap& options, const std::string& name, int64_t otherwise) {
  auto found = options.find(name);
  int64_t value = otherwise;
  if (found != options.end()) parse_int64(found->second, value);
  return value;
}

base::Status check_thresholds(const OptionMap& options) {
  for (const char* name : {"min_threshold", "max_threshold"}) {
    auto found = options.find(name);
    if (found != options.end() && !is_numeric(found->second)) {
      return config_error(fmt::format("Invalid value {} for '{}' compaction sub-option - must be an integer",
                                      found->second, name));
    }
  }
  const int64_t low = threshold_of(options, "min_threshold", 4);
  const int64_t high = threshold_of(options, "max_threshold", 32);
  if (low <= 0 || high <= 0) {
    return config_error(
        "Disabling compaction by setting compaction thresholds to 0 has been removed, set the compaction "
        "option "
        "'enabled' to false instead.");
  }
  if (low <= 1)
    return config_error(fmt::format("Min compaction threshold cannot be less than 2 (got {})", low));
  if (low > high) {
    return config_error(fmt::format(
        "Min compaction threshold (got {}) cannot be greater than max compaction threshold (got {})", low,
        high));
  }
  return {};
}

}  // namespace

base::Result<OptionMap> read_compaction(const OptionMap& given) {
  static const std::set<std::string_view> strategies = {
      "SizeTieredCompactionStrategy", "LeveledCompactionStrategy", "TimeWindowCompactionStrategy",
      "UnifiedCompactionStrategy"};
  OptionMap options = given;
  auto found = options.find("class");
  if (found == options.end()) return config_error("Missing sub-option 'class' for the 'compaction' option");
  std::string name = found->second;
  if (name.find('.') == std::string::npos) name.insert(0, compaction_package);
  if (!name.starts_with(compaction_package) ||
      !strategies.contains(std::string_view(name).substr(compaction_package.size())))
    return config_error(fmt::format("Unable to find compaction strategy class '{}'", name));
  found->second = name;

  if (auto tombstones = options.find("provide_overlapping_tombstones"); tombstones != options.end()) {
    const std::string value = base::ascii_upper(tombstones->second);
    if (value != "NONE" && value != "ROW" && value != "CELL") {
      return config_error(
          fmt::format("Invalid value {} for 'provide_overlapping_tombstones' compaction sub-option - must be "
                      "one of the following "
                      "[NONE, ROW, CELL].",
                      value));
    }
  }
  if (!name.ends_with(".UnifiedCompactionStrategy")) {
    options.emplace("min_threshold", "4");
    options.emplace("max_threshold", "32");
  }
  return options;
}

base::Status check_compaction(const OptionMap& compaction) {
  const std::string strategy = compaction.at("class").substr(compaction_package.size());
  Checker checker(compaction);
  SIBYL_TRY(checker.common());
  if (strategy == "UnifiedCompactionStrategy") {
    SIBYL_TRY(checker.unified());
  } else {
    SIBYL_TRY(checker.thresholds());
    if (strategy == "SizeTieredCompactionStrategy") SIBYL_TRY(checker.size_tiered());
    if (strategy == "LeveledCompactionStrategy") SIBYL_TRY(checker.leveled());
    if (strategy == "TimeWindowCompactionStrategy") SIBYL_TRY(checker.time_window());
  }
  SIBYL_TRY(checker.nothing_left(strategy));
  return check_thresholds(compaction);
}

}  // namespace sibyl::plan
