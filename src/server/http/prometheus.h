// Prometheus' text format, version 0.0.4.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include "base/histogram.h"

namespace sibyl::server {

// Builds one page. Call family() once per metric, then add its samples.
class PrometheusPage {
 public:
  using Labels = std::initializer_list<std::pair<std::string_view, std::string_view>>;

  void family(std::string_view name, std::string_view type, std::string_view help);
  void sample(double value, Labels labels = {}) { sample("", value, labels); }
  // Adds a histogram in seconds, from a histogram of whole microseconds. Buckets double from 16 us to 34 s.
  void latencies(const base::HistogramSnapshot& micros, Labels labels = {});
  // Adds a histogram of plain numbers, with the buckets 1, 3, 7, … 65535.
  void numbers(const base::HistogramSnapshot& values, Labels labels = {});

  // Add a family with one sample.
  void counter(std::string_view name, std::string_view help, uint64_t value);
  void gauge(std::string_view name, std::string_view help, double value);

  std::string take() { return std::move(text_); }

 private:
  void sample(std::string_view suffix, double value, Labels labels, std::string_view bound = "");
  void totals(const base::HistogramSnapshot& values, double scale, Labels labels);

  std::string name_;
  std::string text_;
};

}  // namespace sibyl::server
