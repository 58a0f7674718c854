// Renders a review as JSON. docs/advisor-json.md describes the members.
#include <boost/json.hpp>

#include "advisor/report/measurement_json.h"
#include "advisor/report/verdicts.h"
#include "advisor/review/review_model.h"

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
                      {"cost", finding.cost},
                      {"replaces", finding.replaces}};
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

json::array names_json(const std::vector<std::string>& names) {
  json::array out;
  for (const std::string& name : names) out.push_back(json::value(name));
  return out;
}

json::object query_json(const QueryReview& query) {
  return {{"name", query.name},
          {"group", query.group},
          {"table", query.table},
          {"tables", names_json(query.tables)},
          {"text", query.text},
          {"file", query.file},
          {"line", query.line},
          {"write", query.write},
          {"supported", query.supported},
          {"bound", query.bound},
          {"exact", query.exact},
          {"formula", query.formula},
          {"partitions", maybe(query.partitions)},
          {"partitions_p50", maybe(query.partitions_p50)},
          {"partitions_p99", maybe(query.partitions_p99)},
          {"rows_read", maybe(query.rows_read)},
          {"rows_returned", maybe(query.rows_returned)},
          {"rate", query.rate},
          {"times", query.times},
          {"origin", to_string(query.origin)},
          {"ad_hoc", query.ad_hoc},
          {"calls", maybe(query.calls)},
          {"partitions_max", maybe(query.partitions_max)},
          {"latency_p50", maybe(query.latency_p50)},
          {"latency_p99", maybe(query.latency_p99)},
          {"goal_p50", maybe(query.goal_p50)},
          {"goal_p99", maybe(query.goal_p99)}};
}

json::array columns_json(const std::vector<ColumnReview>& columns) {
  json::array out;
  for (const ColumnReview& column : columns)
    out.push_back(json::object{{"name", column.name},
                               {"type", column.type},
                               {"notation", column.notation},
                               {"marks", column.marks}});
  return out;
}

json::array growth_json(const std::vector<GrowthPoint>& points) {
  json::array out;
  for (const GrowthPoint& point : points)
    out.push_back(json::object{{"seconds", point.seconds},
                               {"p50", point.sizes.p50},
                               {"p99", point.sizes.p99},
                               {"max", point.sizes.max}});
  return out;
}

json::array evidence_json(const std::vector<Evidence>& items) {
  json::array out;
  for (const Evidence& one : items)
    out.push_back(json::object{{"text", one.text}, {"origin", to_string(one.origin)}});
  return out;
}

json::object table_json(const TableReview& table) {
  return {{"name", table.name},
          {"view_of", table.view_of},
          {"columns", columns_json(table.columns)},
          {"rows", maybe(table.rows)},
          {"partitions", maybe(table.partitions)},
          {"bytes", maybe(table.bytes)},
          {"row_bytes", table.row_bytes},
          {"inputs", evidence_json(table.inputs)},
          {"now", sizes_json(table.now)},
          {"horizon", sizes_json(table.horizon)},
          {"horizon_seconds", table.horizon_seconds},
          {"growth", growth_json(table.growth)},
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

}  // namespace

std::string render_json(const Review& review, const Measurement* measurement) {
  json::object object;
  const std::optional<Severity> worst = review.worst();
  object["verdict"] = worst ? to_string(*worst) : unknown_sizes(review) > 0 ? "incomplete" : "OK";
  object["target"] = json::object{{"partition_bytes", review.target.partition_bytes},
                                  {"partition_rate", review.target.partition_rate},
                                  {"nodes", review.target.nodes},
                                  {"replicas", review.target.replicas},
                                  {"machines_assumed", review.target.machines_assumed},
                                  {"vnodes", review.target.vnodes},
                                  {"horizon_seconds", review.target.horizon},
                                  {"latency", maybe(review.target.latency)}};
  object["source"] = review.source;
  json::array tables, queries, groups, findings;
  for (const TableReview& table : review.tables) tables.push_back(table_json(table));
  for (const QueryReview& query : review.queries) queries.push_back(query_json(query));
  for (const GroupReview& group : review.groups)
    groups.push_back(json::object{
        {"name", group.name}, {"queries", group.queries}, {"partitions", maybe(group.partitions)}});
  for (const Finding& finding : review.findings) findings.push_back(finding_json(finding));
  object["tables"] = std::move(tables);
  object["queries"] = std::move(queries);
  object["groups"] = std::move(groups);
  object["findings"] = std::move(findings);
  object["unused_baseline"] = names_json(review.unused_baseline);
  object["internal_errors"] = names_json(review.internal_errors);
  object["measurement"] = measurement_json(measurement);
  return json::serialize(object) + "\n";
}

}  // namespace sibyl::advisor
