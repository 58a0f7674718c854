// Parses option values, computes weights, and finds similar words for error messages.
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "advisor/workload/workload.h"
#include "base/similar.h"

namespace sibyl::advisor {
namespace {

struct Unit {
  std::string_view name;
  double factor;
};

constexpr double day = 86400;
constexpr std::array number_units = {Unit{"", 1},    Unit{"k", 1e3}, Unit{"K", 1e3}, Unit{"M", 1e6},
                                     Unit{"G", 1e9}, Unit{"x", 1},   Unit{"%", 0.01}};
constexpr std::array byte_units = {Unit{"", 1},
                                   Unit{"B", 1},
                                   Unit{"kB", 1e3},
                                   Unit{"KB", 1e3},
                                   Unit{"MB", 1e6},
                                   Unit{"GB", 1e9},
                                   Unit{"TB", 1e12},
                                   Unit{"KiB", 1024},
                                   Unit{"MiB", 1048576},
                                   Unit{"GiB", 1073741824},
                                   Unit{"TiB", 1099511627776}};
constexpr std::array time_units = {Unit{"us", 1e-6},   Unit{"ms", 1e-3},     Unit{"s", 1},
                                   Unit{"m", 60},      Unit{"h", 3600},      Unit{"d", day},
                                   Unit{"w", 7 * day}, Unit{"mo", 30 * day}, Unit{"y", 365 * day}};

template <size_t size>
std::optional<double> read(std::string_view text, const std::array<Unit, size>& units) {
  double value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem != std::errc() || !std::isfinite(value) || value < 0) return std::nullopt;
  const std::string_view unit(end, static_cast<size_t>(text.data() + text.size() - end));
  for (const Unit& candidate : units) {
    if (candidate.name == unit) return value * candidate.factor;
  }
  return std::nullopt;
}

std::optional<double> find_weight(const Group& group, const std::string& mix) {
  for (const auto& [name, weight] : group.weights) {
    if (name == mix) return weight;
  }
  return std::nullopt;
}

}  // namespace

const char* to_string(Comparison comparison) {
  constexpr std::array texts = {"=", "<", "<=", ">", ">="};
  return texts[static_cast<size_t>(comparison)];
}

std::optional<double> read_number(std::string_view text) {
  return read(text, number_units);
}

std::optional<double> read_bytes(std::string_view text) {
  return read(text, byte_units);
}

std::optional<double> read_seconds(std::string_view text) {
  return read(text, time_units);
}

std::optional<double> read_rate(std::string_view text) {
  const size_t slash = text.find('/');
  if (slash == std::string_view::npos) return read_number(text);
  const auto count = read_number(text.substr(0, slash));
  const std::string_view time = text.substr(slash + 1);
  const bool counted = !time.empty() && (time[0] == '.' || (time[0] >= '0' && time[0] <= '9'));
  const auto per = read_seconds(counted ? std::string(time) : "1" + std::string(time));
  if (!count || !per || *per <= 0) return std::nullopt;
  return *count / *per;
}

std::optional<double> read_zipf(std::string_view text) {
  if (!text.starts_with("zipf(") || !text.ends_with(")")) return std::nullopt;
  return read_number(text.substr(5, text.size() - 6));
}

const Option* find_option(const Options& options, std::string_view name) {
  for (const Option& option : options) {
    if (option.name == name) return &option;
  }
  return nullptr;
}

std::string nearest(std::string_view word, const std::vector<std::string>& candidates) {
  return base::most_similar(word, candidates);
}

std::vector<std::string> Workload::mix_names() const {
  std::vector<std::string> names;
  const auto add = [&](const std::string& name) {
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  };
  for (const Group& group : groups) {
    for (const auto& [name, weight] : group.weights) add(name);
  }
  for (const Mix& mix : mixes) add(mix.name);
  return names;
}

double Workload::weight(const std::string& group, const Options& options, const std::string& mix) const {
  if (const Option* rate = find_option(options, "rate")) return read_rate(rate->value).value_or(0);
  for (const Group& candidate : groups) {
    if (candidate.name != group) continue;
    if (candidate.weights.empty()) return 1;
    if (const auto found = find_weight(candidate, mix)) return *found;
    for (const Mix& derived : mixes) {
      if (derived.name != mix) continue;
      return find_weight(candidate, derived.of).value_or(0) * (candidate.write ? derived.write : 1);
    }
    return 0;
  }
  return 1;
}

}  // namespace sibyl::advisor
