#include "advisor/review/review.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "advisor/review/fix.h"

namespace sibyl::advisor {
namespace {

constexpr std::array verdict_names = {"FULL_SCAN",        "ALLOW_FILTERING",   "MULTI_PARTITION",
                                      "PARTITION_GROWTH", "HOT_PARTITION",     "LOW_CARDINALITY",
                                      "TOO_UNIQUE",       "ORDER_MISMATCH",    "KEY_COLLISION",
                                      "TOMBSTONE_SCAN",   "INDEX_CARDINALITY", "COUNTER_MIX",
                                      "LARGE_CELL",       "UNSUPPORTED_QUERY", "LATENCY_GOAL",
                                      "UNKNOWN_SIZE",     "AGGREGATE_SCAN",    "OK"};

std::string_view trim(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

// If an accepted finding has the definition of a replacement table, moves it to the next finding that the
// table resolves.
void keep_definitions(Review& review) {
  for (const Finding& accepted : review.findings) {
    if (!accepted.accepted || accepted.replaces.empty() || accepted.cql.empty()) continue;
    for (Finding& finding : review.findings) {
      if (finding.accepted || finding.replaces != accepted.replaces) continue;
      finding.cql = accepted.cql;
      finding.fix_kind = accepted.fix_kind;
      break;
    }
  }
}

}  // namespace

const char* to_string(Severity severity) {
  return severity == Severity::error ? "error" : severity == Severity::warning ? "warning" : "note";
}

std::optional<Severity> severity_by_name(std::string_view name) {
  for (const Severity severity : {Severity::note, Severity::warning, Severity::error})
    if (name == to_string(severity)) return severity;
  return std::nullopt;
}

const char* to_string(Verdict verdict) {
  return verdict_names[static_cast<size_t>(verdict)];
}

std::optional<Verdict> verdict_by_name(std::string_view name) {
  const auto found = std::find(verdict_names.begin(), verdict_names.end(), name);
  if (found == verdict_names.end()) return std::nullopt;
  return static_cast<Verdict>(found - verdict_names.begin());
}

const char* to_string(Origin origin) {
  return origin == Origin::declared ? "declared" : origin == Origin::measured ? "measured" : "estimated";
}

std::string Finding::id() const {
  std::string about = table;
  if (!query.empty()) about += (about.empty() ? "" : "/") + query;
  std::replace(about.begin(), about.end(), ' ', '_');
  return fmt::format("{} {}", to_string(verdict), about);
}

std::string Finding::place() const {
  return line > 0 ? fmt::format("{}:{}", file, line) : file;
}

std::optional<double> QueryReview::rows_per_row() const {
  if (write || !rows_read || !rows_returned) return std::nullopt;
  return std::max(1.0, *rows_read / std::max(1.0, *rows_returned));
}

std::optional<Severity> Review::worst() const {
  std::optional<Severity> worst;
  for (const Finding& finding : findings) {
    if (finding.accepted) continue;
    if (!worst || finding.severity > *worst) worst = finding.severity;
  }
  return worst;
}

const TableReview* Review::find_table(std::string_view name) const {
  for (const TableReview& table : tables)
    if (table.name == name) return &table;
  return nullptr;
}

const QueryReview* Review::find_query(std::string_view name) const {
  for (const QueryReview& query : queries)
    if (query.name == name) return &query;
  return nullptr;
}

base::Result<Review> review_workloads(const std::vector<Workload>& workloads, const ReviewOptions& options) {
  SIBYL_ASSIGN(const ReviewModel model, read_review_model(workloads, options));
  Review review;
  review.target = model.target;
  review.internal_errors = model.internal_errors;
  if (options.observation != nullptr) review.source = options.observation->source;
  for (const TableFacts& table : model.tables) review_table(model, table, review);
  for (const MixedTable& mixed : model.mixed) review_mixed(mixed, review);
  for (const StatementFacts& statement : model.statements) review_statement(model, statement, review);
  std::set<std::string> groups;
  for (const StatementFacts& statement : model.statements) {
    if (!statement.group.empty() && groups.insert(statement.group).second)
      review_group(model, statement.group, review);
  }
  for (const TableFacts& table : model.tables) review_queue(model, table, review);
  std::stable_sort(review.findings.begin(), review.findings.end(),
                   [](const Finding& left, const Finding& right) { return left.severity > right.severity; });
  write_proposals(model, review);
  return review;
}

base::Status apply_baseline(std::string_view text, std::string_view file, Review& review) {
  uint32_t number = 0;
  for (size_t from = 0; from < text.size();) {
    const size_t end = std::min(text.find('\n', from), text.size());
    const std::string_view line = trim(text.substr(from, end - from));
    from = end + 1;
    ++number;
    if (line.empty() || line.starts_with('#')) continue;
    const size_t colon = line.find(": ");
    const std::string id(trim(line.substr(0, colon)));
    const size_t space = id.find(' ');
    const std::string_view reason = colon == std::string_view::npos ? "" : trim(line.substr(colon + 2));
    if (space == std::string::npos || !verdict_by_name(id.substr(0, space)) || reason.empty())
      return base::fail(
          base::ErrorCode::syntax,
          fmt::format("{}:{}: expected CODE TABLE/QUERY: reason, found '{}'", file, number, line));
    bool used = false;
    for (Finding& finding : review.findings) {
      if (finding.id() != id) continue;
      finding.accepted = reason;
      used = true;
    }
    if (!used) review.unused_baseline.push_back(id);
  }
  keep_definitions(review);
  return {};
}

}  // namespace sibyl::advisor
