// A review as Markdown and as JSON.
#include <fmt/format.h>

#include <boost/json.hpp>

#include "advisor/review_model.h"

namespace sibyl::advisor {
namespace {

namespace json = boost::json;

json::value maybe(const std::optional<double>& value) {
  return value ? json::value(*value) : json::value(nullptr);
}

json::value sizes_json(const std::optional<Sizes>& sizes) {
  if (!sizes) return nullptr;
  return json::object{{"p50", sizes->p50}, {"p99", sizes->p99}, {"max", sizes->max}};
}

json::value spread_json(const std::optional<Spread>& spread) {
  if (!spread) return nullptr;
  return json::object{
      {"nodes", spread->nodes},
      {"bytes_max_over_mean", spread->bytes},
      {"requests_max_over_mean", spread->requests},
      {"byte_shares", json::array(spread->byte_shares.begin(), spread->byte_shares.end())},
      {"request_shares", json::array(spread->request_shares.begin(), spread->request_shares.end())}};
}

json::object finding_json(const Finding& finding) {
  json::object object{{"code", to_string(finding.verdict)},
                      {"severity", to_string(finding.severity)},
                      {"id", finding.id()},
                      {"table", finding.table},
                      {"query", finding.query},
                      {"file", finding.file},
                      {"line", finding.line},
                      {"message", finding.message},
                      {"fix", finding.fix},
                      {"cql", finding.cql},
                      {"cost", finding.cost}};
  json::array evidence, choices;
  for (const Evidence& one : finding.evidence)
    evidence.push_back(json::object{{"text", one.text}, {"origin", to_string(one.origin)}});
  for (const Choice& one : finding.choices)
    choices.push_back(json::object{{"name", one.name},
                                   {"partitions", one.partitions},
                                   {"partitions_p95", one.partitions_p95},
                                   {"largest_bytes", one.largest_bytes},
                                   {"hottest_rate", one.hottest_rate},
                                   {"fits", one.fits},
                                   {"cost_per_second", maybe(one.cost)},
                                   {"chosen", one.chosen}});
  object["evidence"] = std::move(evidence);
  object["choices"] = std::move(choices);
  object["accepted"] = finding.accepted ? json::value(*finding.accepted) : json::value(nullptr);
  return object;
}

json::object query_json(const QueryReview& query) {
  return {{"name", query.name},
          {"group", query.group},
          {"table", query.table},
          {"file", query.file},
          {"line", query.line},
          {"write", query.write},
          {"supported", query.supported},
          {"bound", query.bound},
          {"formula", query.formula},
          {"partitions", maybe(query.partitions)},
          {"rows_read", maybe(query.rows_read)},
          {"rows_returned", maybe(query.rows_returned)},
          {"rate", query.rate},
          {"times", query.times},
          {"origin", to_string(query.origin)},
          {"text", query.text},
          {"calls", maybe(query.calls)},
          {"partitions_max", maybe(query.partitions_max)},
          {"latency_p50", maybe(query.latency_p50)},
          {"latency_p99", maybe(query.latency_p99)}};
}

json::object table_json(const TableReview& table) {
  return {{"name", table.name},
          {"rows", maybe(table.rows)},
          {"partitions", maybe(table.partitions)},
          {"bytes", maybe(table.bytes)},
          {"row_bytes", table.row_bytes},
          {"now", sizes_json(table.now)},
          {"horizon", sizes_json(table.horizon)},
          {"days_to_target", maybe(table.days_to_target)},
          {"reads", table.reads},
          {"writes", table.writes},
          {"hottest_share", table.hottest_share},
          {"hottest_read", table.hottest_read},
          {"hottest_write", table.hottest_write},
          {"origin", to_string(table.origin)},
          {"spread", spread_json(table.spread)},
          {"spread_doubled", spread_json(table.spread_doubled)}};
}

std::string cell(std::string_view text) {
  std::string out;
  for (const char c : text) out += c == '|' ? std::string("\\|") : std::string(1, c);
  return out;
}

std::string size_cell(const std::optional<Sizes>& sizes) {
  if (!sizes) return "?";
  return fmt::format("{} / {} / {}", size_text(sizes->p50), size_text(sizes->p99), size_text(sizes->max));
}

std::string number_cell(const std::optional<double>& number) {
  return number ? count_text(*number) : "?";
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
  if (finding.choices.empty()) return text;
  text += "\n| choice | partitions read | p95 | largest partition | cost per second | |\n|-|-|-|-|-|-|\n";
  for (const Choice& one : finding.choices)
    text += fmt::format("| {} | {} | {} | {} | {} | {} |\n", one.name, count_text(one.partitions),
                        count_text(one.partitions_p95), size_text(one.largest_bytes),
                        one.cost ? fmt::format("{:.3g}", *one.cost) : "?",
                        one.chosen ? "chosen"
                        : one.fits ? ""
                                   : "not enough");
  return text;
}

}  // namespace

std::string render_json(const Review& review) {
  json::object object;
  const std::optional<Severity> worst = review.worst();
  object["verdict"] = worst ? to_string(*worst) : "OK";
  object["target"] = json::object{{"partition_bytes", review.target.partition_bytes},
                                  {"partition_rate", review.target.partition_rate},
                                  {"nodes", review.target.nodes},
                                  {"replicas", review.target.replicas},
                                  {"vnodes", review.target.vnodes},
                                  {"horizon_seconds", review.target.horizon}};
  object["source"] = review.source;
  json::array tables, queries, groups, findings, unused, errors;
  for (const TableReview& table : review.tables) tables.push_back(table_json(table));
  for (const QueryReview& query : review.queries) queries.push_back(query_json(query));
  for (const GroupReview& group : review.groups)
    groups.push_back(json::object{
        {"name", group.name}, {"queries", group.queries}, {"partitions", maybe(group.partitions)}});
  for (const Finding& finding : review.findings) findings.push_back(finding_json(finding));
  for (const std::string& id : review.unused_baseline) unused.push_back(json::value(id));
  for (const std::string& error : review.internal_errors) errors.push_back(json::value(error));
  object["tables"] = std::move(tables);
  object["queries"] = std::move(queries);
  object["groups"] = std::move(groups);
  object["findings"] = std::move(findings);
  object["unused_baseline"] = std::move(unused);
  object["internal_errors"] = std::move(errors);
  return json::serialize(object) + "\n";
}

std::string render_markdown(const Review& review) {
  const std::optional<Severity> worst = review.worst();
  std::string text = fmt::format("# Data model: {}\n\n", worst ? to_string(*worst) : "OK");
  text += "| statement | table | partitions | rows read | returned |\n|-|-|-|-|-|\n";
  for (const QueryReview& query : review.queries)
    text += fmt::format("| {} | {} | {} | {} | {} |\n", cell(query.name), cell(query.table), query.bound,
                        query.write ? "" : number_cell(query.rows_read),
                        query.write ? "" : number_cell(query.rows_returned));
  for (const GroupReview& group : review.groups)
    text += fmt::format("| {} (together) | | {} | | |\n", cell(group.name), number_cell(group.partitions));
  text += fmt::format(
      "\n| table | rows | partitions | now p50 / p99 / max | after {} | fullest / mean node | on {} |\n",
      duration_text(review.target.horizon), 2 * review.target.nodes);
  text += "|-|-|-|-|-|-|-|\n";
  for (const TableReview& table : review.tables)
    text += fmt::format("| {} | {} | {} | {} | {} | {} | {} |\n", cell(table.name), number_cell(table.rows),
                        number_cell(table.partitions), size_cell(table.now), size_cell(table.horizon),
                        table.spread ? fmt::format("{:.2f}", table.spread->bytes) : "?",
                        table.spread_doubled ? fmt::format("{:.2f}", table.spread_doubled->bytes) : "?");
  if (!review.findings.empty()) text += "\n## Findings\n";
  for (const Finding& finding : review.findings) text += finding_markdown(finding);
  if (!review.internal_errors.empty()) text += "\n## Internal errors: bugs of Sibyl's, to be reported\n\n";
  for (const std::string& error : review.internal_errors) text += fmt::format("- {}\n", error);
  return text;
}

}  // namespace sibyl::advisor
