#include "advisor/trial/measurement.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "advisor/review/review_model.h"

namespace sibyl::advisor {
namespace {

// Two-sided 95% quantile of Student's t-distribution.
double student(size_t degrees) {
  constexpr std::array<double, 11> table = {0,     12.71, 4.303, 3.182, 2.776, 2.571,
                                            2.447, 2.365, 2.306, 2.262, 2.228};
  return degrees < table.size() ? table[degrees] : 1.96 + 2.5 / static_cast<double>(degrees);
}

Mean weighted(const std::vector<MeasuredOperation>& operations, Mean MeasuredOperation::* figure) {
  Mean total;
  double squares = 0;
  for (const MeasuredOperation& operation : operations) {
    total.value += operation.weight * (operation.*figure).value;
    squares += std::pow(operation.weight * (operation.*figure).margin, 2);
  }
  total.margin = std::sqrt(squares);
  return total;
}

std::string micros(double value) {
  if (value >= 1e6) return fmt::format("{:.2f} s", value / 1e6);
  if (value >= 1e4) return fmt::format("{:.1f} ms", value / 1e3);
  return value >= 100 ? fmt::format("{:.0f} us", value) : fmt::format("{:.1f} us", value);
}
std::string mean_text(const Mean& mean) {
  return fmt::format("{} ±{:.0f}%", micros(mean.value), mean.value > 0 ? 100 * mean.margin / mean.value : 0);
}
std::string cost_text(const std::optional<double>& cost) {
  return cost ? fmt::format("{:.4g}", *cost) : "?";
}
std::string ratio_text(double value, double base) {
  return base > 0 ? fmt::format("{:.2f}x", value / base) : "?";
}

using Table = std::vector<std::vector<std::string>>;

std::string expected_text(const std::optional<CostModel>& fitted, const std::optional<Work>& work) {
  return fitted && work ? micros(work->cost(*fitted)) : "?";
}

Table totals(const Measurement& measurement) {
  Table table = {{"schema", "rows", "cost", "", "expected CPU", "", "CPU", "", "latency", ""}};
  const auto ratio = [](const std::optional<double>& value, const std::optional<double>& base) {
    return value && base ? ratio_text(*value, *base) : "?";
  };
  const auto expected = [&](const MeasuredTrial& trial) {
    return measurement.fitted ? trial.predicted(*measurement.fitted) : std::nullopt;
  };
  for (const MeasuredTrial& trial : measurement.trials) {
    const MeasuredTrial& first = measurement.trials[0];
    const std::optional<double> cost = trial.predicted(measurement.model), time = expected(trial);
    table.push_back({trial.name, count_text(trial.rows), cost_text(cost),
                     ratio(cost, first.predicted(measurement.model)), time ? micros(*time) : "?",
                     ratio(time, expected(first)), mean_text(trial.cpu()),
                     ratio_text(trial.cpu().value, first.cpu().value), mean_text(trial.latency()),
                     ratio_text(trial.latency().value, first.latency().value)});
  }
  return table;
}

Table operations(const Measurement& measurement, const MeasuredTrial& trial) {
  Table table = {
      {"statement", "weight", "cost", "expected CPU", "CPU", "latency", "p99", "requests", "rows", "runs"}};
  for (const MeasuredOperation& one : trial.operations)
    table.push_back({one.name, fmt::format("{:g}", one.weight),
                     cost_text(one.work ? std::optional(one.work->cost(measurement.model)) : std::nullopt),
                     expected_text(measurement.fitted, one.work), mean_text(one.cpu), mean_text(one.latency),
                     micros(one.latency_p99), fmt::format("{:.1f}", one.requests), count_text(one.rows),
                     fmt::format("{}", one.runs)});
  return table;
}

// Column names may contain any characters.
std::string printable(std::string text) {
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < ' ' || c == '\x7f') c = ' ';
  }
  return text;
}

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : printable(text))
    out += c == '|' || c == '<' || c == '`' ? std::string("\\") + c : std::string(1, c);
  return out;
}

size_t width_of(const std::string& text) {  // ± takes two bytes
  return text.size() - static_cast<size_t>(std::count(text.begin(), text.end(), '\xc2'));
}

std::string aligned(const Table& table) {
  std::vector<size_t> widths(table[0].size());
  for (const auto& row : table)
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], width_of(row[i]));
  std::string out;
  for (const auto& row : table) {
    for (size_t i = 0; i < row.size(); ++i) {
      const std::string pad(widths[i] - width_of(row[i]), ' ');
      out += i == 0 ? printable(row[i]) + pad : "  " + pad + row[i];
    }
    out += '\n';
  }
  return out;
}

std::string piped(const Table& table) {
  std::string out;
  for (size_t r = 0; r < table.size(); ++r) {
    out += "|";
    for (const std::string& text : table[r]) out += " " + escaped(text) + " |";
    out += "\n";
    if (r == 0) {
      for (size_t i = 0; i < table[0].size(); ++i) out += i == 0 ? "|-" : "|-:";
      out += "|\n";
    }
  }
  return out;
}

std::string headline(const Measurement& measurement) {
  const std::string like =
      measurement.source.empty() ? "" : fmt::format(" like that recorded in {}", measurement.source);
  return fmt::format(
      "Measured with synthetic data{} at scale {:g} (seed {}), {:.0f} s in total. CPU is the time that the "
      "embedded database used; writes return once the operating system has them. Values are means with 95% "
      "intervals; totals are weighted by how often statements run.",
      like, measurement.scale, measurement.seed, measurement.seconds);
}

std::string verdict(const Measurement& measurement) {
  std::string out;
  const auto say = [&](const std::optional<CostModel>& constants, const char* what) {
    const std::optional<bool> agrees = constants ? measurement.order_agrees(*constants) : std::nullopt;
    if (agrees)
      out += fmt::format("{}: the predicted order is {}the measured one.\n", what, *agrees ? "" : "NOT ");
  };
  say(measurement.model, "By the cost model");
  say(measurement.fitted, "By the constants of this machine");
  if (measurement.fitted)
    out += fmt::format(
        "Constants of this machine, us of CPU: partition {:.2f}, in a scan {:.3f}, row {:.3f}, deleted row "
        "{:.3f}, insert {:.2f}, delete {:.2f}.\n",
        measurement.fitted->partition, measurement.fitted->scanned, measurement.fitted->row,
        measurement.fitted->tombstone, measurement.fitted->insert, measurement.fitted->remove);
  return out;
}

}  // namespace

Mean mean_of(const std::vector<double>& samples) {
  Mean mean;
  if (samples.empty()) return mean;
  const auto count = static_cast<double>(samples.size());
  for (const double sample : samples) mean.value += sample / count;
  if (samples.size() < 2) return mean;
  double squares = 0;
  for (const double sample : samples) squares += std::pow(sample - mean.value, 2);
  mean.margin = student(samples.size() - 1) * std::sqrt(squares / (count - 1) / count);
  return mean;
}

std::optional<double> MeasuredTrial::predicted(const CostModel& model) const {
  double total = 0;
  for (const MeasuredOperation& operation : operations) {
    if (!operation.work) return std::nullopt;
    total += operation.weight * operation.work->cost(model);
  }
  return total;
}

Mean MeasuredTrial::cpu() const {
  return weighted(operations, &MeasuredOperation::cpu);
}

Mean MeasuredTrial::latency() const {
  return weighted(operations, &MeasuredOperation::latency);
}

std::optional<bool> Measurement::order_agrees(const CostModel& constants) const {
  std::vector<std::pair<double, double>> known;
  for (const MeasuredTrial& trial : trials) {
    if (const auto cost = trial.predicted(constants)) known.emplace_back(*cost, trial.cpu().value);
  }
  if (known.size() < 2) return std::nullopt;
  std::sort(known.begin(), known.end());
  return std::is_sorted(known.begin(), known.end(),
                        [](const auto& left, const auto& right) { return left.second < right.second; });
}

CostModel fit_constants(const MeasuredTrial& calibration) {
  CostModel out;
  out.lookup = out.sort = out.scanned = out.tombstone = 0;
  // Reads: microseconds = partition * partitions + row * rows. Points are weighted by their size, so that
  // small reads count as much as large ones.
  double pp = 0, pr = 0, rr = 0, py = 0, ry = 0;
  for (const MeasuredOperation& one : calibration.operations) {
    if (!one.work || one.cpu.value <= 0) continue;
    if (one.work->inserts > 0) out.insert = one.cpu.value / one.work->inserts;
    if (one.work->removes > 0) out.remove = one.cpu.value / one.work->removes;
    if (one.work->rows <= 0 || one.work->scanned > 0 || one.work->tombstones > 0) continue;
    const double p = one.work->partitions / one.cpu.value, r = one.work->rows / one.cpu.value;
    pp += p * p;
    pr += p * r;
    rr += r * r;
    py += p;
    ry += r;
  }
  const double determinant = pp * rr - pr * pr;
  if (determinant <= 0) return out;
  out.partition = (py * rr - ry * pr) / determinant;
  out.row = (ry * pp - py * pr) / determinant;
  for (const MeasuredOperation& one : calibration.operations) {
    if (!one.work) continue;
    const double rest = one.cpu.value - one.work->partitions * out.partition - one.work->rows * out.row;
    if (one.work->scanned > 0) out.scanned = std::max(0.0, rest / one.work->scanned);
    if (one.work->tombstones > 0) out.tombstone = std::max(0.0, rest / one.work->tombstones);
  }
  return out;
}

std::string render_text(const Measurement& measurement, const RenderOptions&) {
  std::string out = headline(measurement) + "\n\n" + aligned(totals(measurement)) + verdict(measurement);
  for (const MeasuredTrial& trial : measurement.trials) {
    out += fmt::format("\n{}: {} rows loaded in {:.1f} s\n", trial.name, count_text(trial.rows),
                       trial.load_seconds);
    for (const std::string& note : trial.notes) out += "  " + printable(note) + "\n";
    out += aligned(operations(measurement, trial));
  }
  return out;
}

std::string render_markdown(const Measurement& measurement) {
  std::string out = "## Measured\n\n" + headline(measurement) + "\n\n" + piped(totals(measurement)) + "\n" +
                    verdict(measurement);
  for (const MeasuredTrial& trial : measurement.trials) {
    out += fmt::format("\n### {}\n\n", trial.name);
    for (const std::string& note : trial.notes) out += "- " + escaped(note) + "\n";
    out += (trial.notes.empty() ? "" : "\n") + piped(operations(measurement, trial));
  }
  return out;
}

void compare_with_goals(const Review& review, Measurement& measurement) {
  constexpr double microseconds = 1e6;
  for (MeasuredTrial& trial : measurement.trials) {
    for (const MeasuredOperation& operation : trial.operations) {
      const auto query = std::find_if(review.queries.begin(), review.queries.end(), [&](const auto& one) {
        return one.name == operation.name || one.table + "/" + one.name == operation.name;
      });
      if (query == review.queries.end()) continue;
      const double p99 = operation.latency_p99 / microseconds;
      if (query->goal_p99)
        trial.notes.push_back(fmt::format("{}: p99 {} {} its goal of {}", operation.name, time_text(p99),
                                          p99 > *query->goal_p99 ? "is above" : "meets",
                                          time_text(*query->goal_p99)));
      // Only the mean is known. The median is at most twice the mean.
      const double mean = operation.latency.value / microseconds;
      if (query->goal_p50 && mean > 2 * *query->goal_p50)
        trial.notes.push_back(fmt::format("{}: the mean is {}, the p50 goal is {}", operation.name,
                                          time_text(mean), time_text(*query->goal_p50)));
    }
  }
}

}  // namespace sibyl::advisor
