// Statements that run together: look-ups that one table could answer.
#include <fmt/format.h>

#include <algorithm>

#include "advisor/review_fix.h"

namespace sibyl::advisor {
namespace {

// The first table's key with the second one's columns: what both reads find, in one partition. Where the
// second read finds several rows, what tells them apart goes into the key.
Shape joined_shape(const schema::Table& first, const schema::Table& second, bool several_rows) {
  Shape shape = shape_of(first);
  shape.name += "_with_" + second.name;
  for (const schema::Column& column : second.columns) {
    if (shape.has(column.name)) continue;
    shape.columns.push_back({column.name, column.type->cql_name(), false});
    if (several_rows && column.is_primary_key())
      shape.clustering.push_back({column.name, column.is_clustering() && column.descending});
  }
  return shape;
}

// Changes of the second table's rows outnumber reads so much that keeping copies right would cost more than
// the copies save. Unknown rates decide nothing.
bool is_better_apart(const ReviewModel& model, const TableFacts& first, const TableFacts& last, double rate,
                     double requests) {
  if (rate <= 0 || !first.rows || !last.rows || last.writes <= 0) return false;
  const double copies = std::max(1.0, *first.rows / *last.rows);
  const double saved =
      rate * (requests * model.cost.read(1, 1) - model.cost.read(1, std::max(1.0, requests - 1)));
  return last.writes * copies * model.cost.insert > saved;
}

bool takes_one(const cql::Select& select) {
  for (const cql::ExpressionPtr* limit : {&select.limit, &select.per_partition_limit}) {
    const auto* literal = *limit != nullptr ? std::get_if<cql::Literal>(&(*limit)->node) : nullptr;
    if (literal != nullptr && read_number(literal->text) == 1) return true;
  }
  return false;
}

// Whether anything but the group reads the table.
std::string what_of_the_old(const ReviewModel& model, const std::string& group, const TableFacts& table) {
  for (const StatementFacts& statement : model.statements) {
    if (statement.group == group || statement.select() == nullptr || statement.explanation.uses.empty())
      continue;
    if (model.find(*statement.explanation.uses[0].table) == &table)
      return fmt::format(" {} stays: {} reads it.", table.name, statement.name);
  }
  return fmt::format(" Nothing else here reads {}: once its rows are copied it can be dropped.", table.name);
}

}  // namespace

void review_group(const ReviewModel& model, const std::string& group, Review& review) {
  GroupReview out;
  out.name = group;
  out.partitions = 0;
  std::vector<const StatementFacts*> reads;
  for (const StatementFacts& statement : model.statements) {
    if (statement.group != group || statement.select() == nullptr) continue;
    const QueryReview* query = nullptr;
    for (const QueryReview& one : review.queries)
      if (one.name == statement.name && one.group == group) query = &one;
    ++out.queries;
    reads.push_back(&statement);
    if (query == nullptr || !query->partitions)
      out.partitions.reset();
    else if (out.partitions)
      *out.partitions += *query->partitions * statement.times;
  }
  if (reads.empty() || (reads.size() < 2 && reads[0]->times <= 1)) return;
  review.groups.push_back(out);
  const TableFacts* first = nullptr;
  const TableFacts* last = nullptr;
  for (const StatementFacts* read : reads) {
    if (read->explanation.uses.empty()) return;
    const TableFacts* table = model.find(*read->explanation.uses[0].table);
    if (table == nullptr) return;
    if (first == nullptr) first = table;
    last = table;
  }
  if (!out.partitions || *out.partitions < 2 || first == last) return;
  // Counters have tables of their own: both reads are needed.
  if (first->table->is_counter || last->table->is_counter) return;
  double requests = 0, rate = 0;
  for (const StatementFacts* read : reads) {
    requests += read->times;
    rate = std::max(rate, read->rate);
  }
  if (is_better_apart(model, *first, *last, rate, requests)) return;
  Finding finding;
  finding.verdict = Verdict::multi_partition;
  finding.severity = *out.partitions > 200  ? Severity::error
                     : *out.partitions > 20 ? Severity::warning
                                            : Severity::note;
  finding.table = first->name;
  finding.query = group;
  finding.file = reads.back()->file;
  finding.line = reads.back()->line;
  finding.message = fmt::format("{} partitions are read where one could be: {}, then {}.",
                                count_text(*out.partitions), first->name, last->name);
  for (const StatementFacts* read : reads) {
    if (read->times != 1)
      finding.evidence.push_back(
          {fmt::format("{} runs {} times", read->name, count_text(read->times)), Origin::declared});
  }
  finding.evidence.push_back(
      {fmt::format("{} partitions in {} requests", count_text(*out.partitions), count_text(requests)),
       Origin::estimated});
  finding.fix = fmt::format("Store what is looked up in {} with the rows of {}: one partition answers.",
                            last->name, first->name) +
                what_of_the_old(model, group, *first);
  const bool several = reads.back()->explanation.uses[0].access != plan::Explanation::Access::rows &&
                       last->table->clustering_count > 0 && !takes_one(*reads.back()->select());
  propose(finding, joined_shape(*first->table, *last->table, several));
  finding.cost = "Every copy is written when a row changes";
  if (last->rows && first->rows)
    finding.cost += fmt::format("; about {} more on each replica", size_text(*first->rows * last->row_bytes));
  finding.cost +=
      fmt::format("; a read costs 1/{:.1f} of now.",
                  requests * model.cost.read(1, 1) / model.cost.read(1, std::max(1.0, requests - 1)));
  review.findings.push_back(std::move(finding));
}

}  // namespace sibyl::advisor
