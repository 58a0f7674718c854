#include "server/http/prometheus.h"

#include <fmt/format.h>

#include <cmath>

namespace sibyl::server {
namespace {

std::string escaped(std::string_view text, bool is_label) {
  std::string out;
  for (const char c : text) {
    if (c == '\\') {
      out += "\\\\";
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '"' && is_label) {
      out += "\\\"";
    } else {
      out += c;
    }
  }
  return out;
}

std::string number(double value) {
  if (value == std::floor(value) && std::abs(value) < 1e15) return fmt::format("{:.0f}", value);
  return fmt::format("{}", value);
}

}  // namespace

void PrometheusPage::family(std::string_view name, std::string_view type, std::string_view help) {
  name_ = name;
  text_ += fmt::format("# HELP {} {}\n# TYPE {} {}\n", name, escaped(help, false), name, type);
}

void PrometheusPage::sample(std::string_view suffix, double value, Labels labels, std::string_view bound) {
  text_ += name_;
  text_ += suffix;
  if (labels.size() > 0 || !bound.empty()) {
    char separator = '{';
    for (const auto& [label, content] : labels) {
      text_ += fmt::format("{}{}=\"{}\"", separator, label, escaped(content, true));
      separator = ',';
    }
    if (!bound.empty()) text_ += fmt::format("{}le=\"{}\"", separator, bound);
    text_ += '}';
  }
  text_ += ' ';
  text_ += number(value);
  text_ += '\n';
}

// Recorded values are truncated to whole microseconds: 15.9 counts as 15. So the bucket below 16 holds values
// up to 15.
void PrometheusPage::latencies(const base::HistogramSnapshot& micros, Labels labels) {
  for (uint64_t bound = 16; bound <= uint64_t{1} << 25; bound *= 2)
    sample("_bucket", static_cast<double>(micros.count_up_to(bound - 1)), labels,
           number(static_cast<double>(bound) / 1e6));
  totals(micros, 1e-6, labels);
}

void PrometheusPage::numbers(const base::HistogramSnapshot& values, Labels labels) {
  for (uint64_t bound = 2; bound <= 1u << 16; bound *= 2)
    sample("_bucket", static_cast<double>(values.count_up_to(bound - 1)), labels,
           number(static_cast<double>(bound - 1)));
  totals(values, 1, labels);
}

void PrometheusPage::totals(const base::HistogramSnapshot& values, double scale, Labels labels) {
  sample("_bucket", static_cast<double>(values.count), labels, "+Inf");
  sample("_sum", static_cast<double>(values.sum) * scale, labels);
  sample("_count", static_cast<double>(values.count), labels);
}

void PrometheusPage::counter(std::string_view name, std::string_view help, uint64_t value) {
  family(name, "counter", help);
  sample(static_cast<double>(value));
}

void PrometheusPage::gauge(std::string_view name, std::string_view help, double value) {
  family(name, "gauge", help);
  sample(value);
}

}  // namespace sibyl::server
