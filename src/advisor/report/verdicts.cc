#include "advisor/report/verdicts.h"

#include <fmt/format.h>

#include <algorithm>

#include "advisor/review/review_model.h"

namespace sibyl::advisor {
namespace {

std::string table_text(const TableReview& table, const ReviewTarget& target) {
  if (!table.horizon)
    return fmt::format("sizes unknown: declare -- @table {} rows=… partitions=…", table.name);
  std::string text = fmt::format("largest partition {} of {}", size_text(table.horizon->max),
                                 size_text(target.partition_bytes));
  if (!table.growth.empty() && table.now && table.now->max != table.horizon->max)
    text += " after " + duration_text(table.horizon_seconds);
  constexpr double uneven = 1.1;
  if (table.spread && table.spread->bytes >= uneven)
    text += fmt::format(", fullest node {:.1f} times the mean", table.spread->bytes);
  return text;
}

std::string query_text(const QueryReview& query) {
  std::string text = query.write
                         ? "writes " + count_of(std::max(1.0, query.partitions.value_or(1)), "partition")
                         : "reads " + cost_text(query);
  if (query.rate > 0) text += ", " + rate_text(query.rate);
  return text;
}

// Fills the line with the worst of the findings that `matches` selects.
template <typename Matches>
void take_worst(const Review& review, const Matches& matches, VerdictLine& line) {
  const Finding* worst = nullptr;
  for (const Finding& finding : review.findings) {
    if (finding.accepted || !matches(finding)) continue;
    if (worst != nullptr) ++line.others;
    if (worst == nullptr || finding.severity > worst->severity) worst = &finding;
  }
  if (worst == nullptr) return;
  line.state = VerdictLine::State::bad;
  line.severity = worst->severity;
  line.code = to_string(worst->verdict);
  line.text = worst->message;
}

int rank(const VerdictLine& line) {
  if (line.severity) return 1 + 2 * static_cast<int>(*line.severity);
  return line.state == VerdictLine::State::unknown ? 2 : 0;
}

void add_groups(const Review& review, std::vector<VerdictLine>& lines) {
  for (const Finding& finding : review.findings) {
    if (finding.accepted || finding.query.empty()) continue;
    const auto same = [&](const VerdictLine& line) {
      return !line.is_table && line.name == finding.query && line.table == finding.table;
    };
    if (std::any_of(lines.begin(), lines.end(), same)) continue;
    VerdictLine line;
    line.name = finding.query;
    line.table = finding.table;
    take_worst(
        review, [&](const Finding& one) { return one.query == line.name && one.table == line.table; }, line);
    lines.push_back(std::move(line));
  }
}

// A table that could not be created has findings, but no review.
void add_other_tables(const Review& review, std::vector<VerdictLine>& lines) {
  for (const Finding& finding : review.findings) {
    if (finding.accepted || !finding.query.empty() || review.find_table(finding.table) != nullptr) continue;
    VerdictLine line;
    line.is_table = true;
    line.name = line.table = finding.table;
    take_worst(
        review, [&](const Finding& one) { return one.query.empty() && one.table == line.table; }, line);
    const auto same = [&](const VerdictLine& one) { return one.is_table && one.name == line.name; };
    if (std::none_of(lines.begin(), lines.end(), same)) lines.push_back(std::move(line));
  }
}

}  // namespace

std::string cost_text(const QueryReview& query) {
  std::string partitions = fmt::format("{} partitions", query.bound.empty() ? "?" : query.bound);
  if (query.partitions)
    partitions = count_of(*query.partitions, "partition");
  else if (query.bound == "all")
    partitions = "all partitions";
  return query.rows_read ? count_of(*query.rows_read, "row") + " of " + partitions : partitions;
}

size_t unknown_sizes(const Review& review) {
  return static_cast<size_t>(std::count_if(review.tables.begin(), review.tables.end(),
                                           [](const TableReview& table) { return !table.horizon; }));
}

std::string summary_of(const Review& review) {
  size_t counts[3] = {};
  for (const Finding& finding : review.findings)
    if (!finding.accepted) ++counts[static_cast<size_t>(finding.severity)];
  std::vector<std::string> parts;
  for (const Severity severity : {Severity::error, Severity::warning, Severity::note}) {
    const size_t count = counts[static_cast<size_t>(severity)];
    if (count > 0) parts.push_back(fmt::format("{} {}{}", count, to_string(severity), count == 1 ? "" : "s"));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::vector<VerdictLine> verdict_lines(const Review& review) {
  std::vector<VerdictLine> lines;
  for (const TableReview& table : review.tables) {
    VerdictLine line;
    line.is_table = true;
    line.name = line.table = table.name;
    line.text = table_text(table, review.target);
    if (!table.horizon) line.state = VerdictLine::State::unknown;
    take_worst(
        review, [&](const Finding& one) { return one.table == table.name && one.query.empty(); }, line);
    lines.push_back(std::move(line));
  }
  add_other_tables(review, lines);
  for (const QueryReview& query : review.queries) {
    if (query.ad_hoc) continue;
    VerdictLine line;
    line.name = query.name;
    line.table = query.table;
    line.text = query_text(query);
    // If the query has no finding, its table has one.
    if (!query.supported) {
      line.state = VerdictLine::State::unknown;
      line.text = "not reviewed: the database rejects it";
    }
    take_worst(
        review, [&](const Finding& one) { return one.query == query.name && one.table == query.table; },
        line);
    lines.push_back(std::move(line));
  }
  add_groups(review, lines);
  std::stable_sort(lines.begin(), lines.end(), [](const VerdictLine& left, const VerdictLine& right) {
    return rank(left) > rank(right);
  });
  return lines;
}

}  // namespace sibyl::advisor
