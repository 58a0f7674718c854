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

// What the joined table holds: for each row of the first table one of the second, or all of one of its
// partitions.
TableFacts joined_facts(const TableFacts& first, const TableFacts& last, bool several_rows) {
  TableFacts out = first;
  schema::Table table = *first.table;
  for (const schema::Column& column : last.table->columns) {
    if (table.find(column.name) != nullptr) continue;
    table.columns.push_back(column);
    table.columns.back().kind = schema::ColumnKind::regular;
    out.columns[column.name] = last.column(column);
  }
  table.finish();
  out.table = std::make_shared<const schema::Table>(std::move(table));
  out.row_bytes += last.row_bytes;
  if (first.rows && last.rows && *last.rows > 0) out.writes += last.writes * *first.rows / *last.rows;
  if (!several_rows) return out;
  const std::optional<TableFacts::Rows> found = last.rows_per_partition();
  const auto multiply = [&](std::optional<double>& rows) {
    if (rows) rows = found ? std::optional(*rows * found->mean) : std::nullopt;
  };
  multiply(out.growth);
  if (first.rows && last.growth && last.partitions && *last.partitions > 0)
    out.growth = out.growth.value_or(0) + *first.rows * *last.growth / *last.partitions;
  for (std::optional<double>* rows : {&out.rows, &out.p50, &out.p99, &out.max}) multiply(*rows);
  return out;
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

// The reads of a group, in their order.
struct GroupReads {
  GroupReview review;
  std::vector<const StatementFacts*> statements;
  double requests = 0, rate = 0;
  const TableFacts *first = nullptr, *last = nullptr;  // nullptr: a read's table is not known

  // A statement may run less often than the group does.
  bool is_one_request() const { return statements.size() < 2 && requests <= 1; }
};

GroupReads reads_of(const ReviewModel& model, const std::string& group, const Review& review) {
  GroupReads out;
  out.review.name = group;
  out.review.partitions = 0;
  bool all_known = true;
  for (const StatementFacts& statement : model.statements) {
    if (statement.group != group || statement.select() == nullptr) continue;
    const auto query = std::find_if(
        review.queries.begin(), review.queries.end(),
        [&](const QueryReview& one) { return one.name == statement.name && one.group == group; });
    if (query == review.queries.end() || !query->partitions)
      out.review.partitions.reset();
    else if (out.review.partitions)
      *out.review.partitions += *query->partitions * statement.times;
    ++out.review.queries;
    out.statements.push_back(&statement);
    out.requests += statement.times;
    out.rate = std::max(out.rate, statement.rate);
    const auto& uses = statement.explanation.uses;
    out.last = uses.empty() ? nullptr : model.find(*uses[0].table);
    if (out.statements.size() == 1) out.first = out.last;
    all_known = all_known && out.last != nullptr;
  }
  if (!all_known) out.first = out.last = nullptr;
  return out;
}

// Whether one table could answer what two are asked for.
bool can_be_joined(const ReviewModel& model, const GroupReads& reads) {
  if (reads.first == reads.last || !reads.review.partitions || *reads.review.partitions < 2) return false;
  // Counters have tables of their own: both reads are needed.
  if (reads.first->table->is_counter || reads.last->table->is_counter) return false;
  return !is_better_apart(model, *reads.first, *reads.last, reads.rate, reads.requests);
}

Finding found(const GroupReads& reads) {
  const double partitions = *reads.review.partitions;
  Finding finding;
  finding.verdict = Verdict::multi_partition;
  finding.severity = partitions > 200  ? Severity::error
                     : partitions > 20 ? Severity::warning
                                       : Severity::note;
  finding.table = reads.first->name;
  finding.query = reads.review.name;
  finding.file = reads.statements.back()->file;
  finding.line = reads.statements.back()->line;
  finding.message = fmt::format("{} partitions are read where one could be: {}, then {}.",
                                count_text(partitions), reads.first->name, reads.last->name);
  for (const StatementFacts* read : reads.statements) {
    if (read->times != 1)
      finding.evidence.push_back(
          {fmt::format("{} runs {} times", read->name, count_text(read->times)), Origin::declared});
  }
  finding.evidence.push_back(
      {fmt::format("{} partitions in {} requests", count_text(partitions), count_text(reads.requests)),
       Origin::estimated});
  return finding;
}

void fix_by_join(const ReviewModel& model, const GroupReads& reads, Finding& finding) {
  const TableFacts &first = *reads.first, &last = *reads.last;
  const StatementFacts& second = *reads.statements.back();
  const bool several = second.explanation.uses[0].access != plan::Explanation::Access::rows &&
                       last.table->clustering_count > 0 && !takes_one(*second.select());
  const TableFacts joined = joined_facts(first, last, several);
  const bool split = propose_within_target(model, joined, joined_shape(*first.table, *last.table, several),
                                           *reads.statements.front(), finding);
  finding.fix = fmt::format("Store what is looked up in {} with the rows of {}{}", last.name, first.name,
                            split ? ". " + finding.fix : std::string(": one partition answers.")) +
                what_of_the_old(model, reads.review.name, first);
  if (split) finding.cost += " ";
  finding.cost += "Every copy is written when a row changes";
  if (joined.rows && last.rows)
    finding.cost += fmt::format("; about {} more on each replica", size_text(*joined.rows * last.row_bytes));
  if (!split)
    finding.cost += fmt::format(
        "; a read costs 1/{:.1f} of now",
        reads.requests * model.cost.read(1, 1) / model.cost.read(1, std::max(1.0, reads.requests - 1)));
  finding.cost += ".";
}

}  // namespace

void review_group(const ReviewModel& model, const std::string& group, Review& review) {
  const GroupReads reads = reads_of(model, group, review);
  if (reads.statements.empty() || reads.is_one_request()) return;
  review.groups.push_back(reads.review);
  if (!can_be_joined(model, reads)) return;
  Finding finding = found(reads);
  fix_by_join(model, reads, finding);
  review.findings.push_back(std::move(finding));
}

}  // namespace sibyl::advisor
