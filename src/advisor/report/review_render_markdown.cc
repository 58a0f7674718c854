// Renders a review as Markdown, with everything that the JSON has.
#include <fmt/format.h>

#include "advisor/review/review_model.h"

namespace sibyl::advisor {
namespace {

std::string cell(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '|' || c == '<' || c == '`' || c == '*' || c == '\\') out += '\\';
    out += c == '\n' || c == '\r' ? ' ' : c;
  }
  return out;
}

std::string number_cell(const std::optional<double>& number) {
  return number ? count_text(*number) : "?";
}

std::string rate_cell(double rate) {
  return rate > 0 ? rate_text(rate) : "?";
}

std::string size_cell(const std::optional<Sizes>& sizes) {
  if (!sizes) return "?";
  return fmt::format("{} / {} / {}", size_text(sizes->p50), size_text(sizes->p99), size_text(sizes->max));
}

std::string spread_cell(const std::optional<Spread>& spread) {
  return spread ? fmt::format("{:.2f}, {:.2f}", spread->bytes, spread->requests) : "?";
}

std::string target_markdown(const ReviewTarget& target) {
  return fmt::format(
      "Targets: partitions of {}, {} to one partition, {} nodes x {} replicas, {} virtual nodes, a horizon "
      "of "
      "{}.\n\n",
      size_text(target.partition_bytes), rate_text(target.partition_rate), target.nodes, target.replicas,
      target.vnodes, duration_text(target.horizon));
}

std::string goals_text(const QueryReview& query) {
  std::string out;
  const auto add = [&](const char* name, const std::optional<double>& goal) {
    if (goal) out += fmt::format("{}goal: {} {:.3g} ms", out.empty() ? "" : ", ", name, *goal * 1e3);
  };
  add("p50", query.goal_p50);
  add("p99", query.goal_p99);
  return out;
}

std::string observed_cell(const QueryReview& query) {
  const std::string goals = goals_text(query);
  if (!query.calls) return goals;
  std::string out = goals + (goals.empty() ? "" : "; ") + count_text(*query.calls) + " calls";
  if (query.partitions_max) out += fmt::format(", {} partitions at most", count_text(*query.partitions_max));
  if (query.latency_p50 && query.latency_p99)
    out += fmt::format(", p50 {:.3g} ms, p99 {:.3g} ms", *query.latency_p50 * 1e3, *query.latency_p99 * 1e3);
  return out;
}

std::string share_cell(const TableReview& table) {
  std::string out = table.hottest_share > 0 ? fmt::format("{:.3g}%", 100 * table.hottest_share) : "?";
  if (!table.hottest_write.empty()) out += fmt::format(", written {}", cell(table.hottest_write));
  if (!table.hottest_read.empty()) out += fmt::format(", read {}", cell(table.hottest_read));
  return out;
}

std::string queries_markdown(const Review& review) {
  std::string text =
      "## Statements\n\n| statement | group | table | partitions | rows read | returned | rate | times | "
      "observed | where |\n|-|-|-|-|-|-|-|-|-|-|\n";
  for (const QueryReview& query : review.queries) {
    std::string bound = query.bound;
    if (query.partitions && bound != count_text(*query.partitions))
      bound += fmt::format(" = {}", count_text(*query.partitions));
    if (!query.formula.empty()) bound += fmt::format(" ({})", query.formula);
    std::string tables;
    for (const std::string& name : query.tables) tables += (tables.empty() ? "" : ", ") + cell(name);
    text += fmt::format("| {} | {} | {} | {} | {} | {} | {} | {} | {} | {} |\n", cell(query.name),
                        cell(query.group), tables, query.supported ? bound : "refused",
                        query.write ? "writes" : number_cell(query.rows_read),
                        query.write ? "" : number_cell(query.rows_returned), rate_cell(query.rate),
                        count_text(query.times), observed_cell(query),
                        cell(query.line > 0 ? fmt::format("{}:{}", query.file, query.line) : query.file));
  }
  for (const GroupReview& group : review.groups)
    text += fmt::format("| {} (together) | | | {} | | | | | | |\n", cell(group.name),
                        number_cell(group.partitions));
  return text;
}

std::string columns_cell(const TableReview& table) {
  std::string out;
  for (const ColumnReview& column : table.columns) {
    out += fmt::format("{}{} {}", out.empty() ? "" : ", ", cell(column.notation), cell(column.type));
    if (!column.marks.empty()) out += " " + column.marks;
  }
  return out;
}

std::string tables_markdown(const Review& review) {
  const ReviewTarget& target = review.target;
  std::string text = "\n## Tables\n\n| table | columns |\n|-|-|\n";
  for (const TableReview& table : review.tables)
    text += fmt::format("| {}{} | {} |\n", cell(table.name),
                        table.view_of.empty() ? "" : fmt::format(" (view of {})", cell(table.view_of)),
                        columns_cell(table));
  text += fmt::format(
      "\n| table | rows | partitions | bytes | of a row | now p50 / p99 / max | after {} | above {} |\n"
      "|-|-|-|-|-|-|-|-|\n",
      duration_text(target.horizon), size_text(target.partition_bytes));
  for (const TableReview& table : review.tables)
    text +=
        fmt::format("| {} | {} | {} | {} | {} | {} | {} | {} |\n", cell(table.name), number_cell(table.rows),
                    number_cell(table.partitions), table.bytes ? size_text(*table.bytes) : "?",
                    size_text(table.row_bytes), size_cell(table.now), size_cell(table.horizon),
                    table.days_to_target && *table.days_to_target > 0
                        ? "in " + duration_text(*table.days_to_target * 86'400)
                    : table.days_to_target ? "now"
                    : table.horizon        ? "no"
                                           : "?");
  text += fmt::format(
      "\n| table | reads | writes | on the hottest key | fullest / mean node: bytes, requests | on {} "
      "nodes | numbers |\n|-|-|-|-|-|-|-|\n",
      2 * target.nodes);
  for (const TableReview& table : review.tables)
    text += fmt::format("| {} | {} | {} | {} | {} | {} | {} |\n", cell(table.name), rate_cell(table.reads),
                        rate_cell(table.writes), share_cell(table), spread_cell(table.spread),
                        spread_cell(table.spread_doubled), to_string(table.origin));
  return text;
}

std::string choices_markdown(const Finding& finding) {
  std::string text =
      "\n| choice | partitions per read | p95 | largest partition | hottest | cost per second | "
      "|\n|-|-|-|-|-|-|-|\n";
  for (const Choice& one : finding.choices)
    text += fmt::format("| {} | {} | {} | {} | {} | {} | {} |\n", one.name, count_text(one.partitions),
                        count_text(one.partitions_p95), size_text(one.largest_bytes),
                        rate_text(one.hottest_rate), one.cost ? cost_text(*one.cost) : "?",
                        one.chosen ? "chosen"
                        : one.fits ? ""
                                   : "misses a target");
  return text;
}

std::string finding_markdown(const Finding& finding) {
  std::string text = fmt::format("\n### {} `{}`\n\n{}: {}\n\n", to_string(finding.severity), finding.id(),
                                 finding.place(), finding.message);
  if (finding.accepted) text += fmt::format("Accepted: {}\n\n", *finding.accepted);
  for (const Evidence& one : finding.evidence)
    text += fmt::format("- {} ({})\n", one.text, to_string(one.origin));
  if (!finding.fix.empty()) text += fmt::format("\nFix: {}\n", finding.fix);
  if (!finding.cql.empty()) text += fmt::format("\n```sql\n{}```\n", finding.cql);
  if (!finding.cost.empty()) text += fmt::format("\nCost: {}\n", finding.cost);
  return finding.choices.empty() ? text : text + choices_markdown(finding);
}

}  // namespace

std::string render_markdown(const Review& review) {
  const std::optional<Severity> worst = review.worst();
  std::string text = fmt::format("# Data model: {}\n\n", worst ? to_string(*worst) : "OK");
  if (!review.source.empty()) text += fmt::format("As observed in {}.\n\n", review.source);
  text += target_markdown(review.target);
  if (!review.queries.empty()) text += queries_markdown(review);
  if (!review.tables.empty()) text += tables_markdown(review);
  if (!review.findings.empty()) text += "\n## Findings\n";
  for (const Finding& finding : review.findings) text += finding_markdown(finding);
  if (!review.unused_baseline.empty()) text += "\n## In the baseline, but no longer found\n\n";
  for (const std::string& id : review.unused_baseline) text += fmt::format("- {}\n", id);
  if (!review.internal_errors.empty()) text += "\n## Internal errors: bugs in Sibyl, please report them\n\n";
  for (const std::string& error : review.internal_errors) text += fmt::format("- {}\n", error);
  return text;
}

}  // namespace sibyl::advisor
