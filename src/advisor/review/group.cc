// Reviews groups: look-ups in several tables that one table could answer.
#include <fmt/format.h>

#include <algorithm>

#include "advisor/review/fix.h"
#include "advisor/workload/spread.h"

namespace sibyl::advisor {
namespace {

// The column of the first table whose values are partition keys of the second, if the first read selects only
// that column. Empty if unknown.
std::string joined_by(const StatementFacts& first, const schema::Table& second) {
  const cql::Select& select = *first.select();
  if (select.selectors.size() != 1 || second.partition_key_count != 1) return {};
  const auto* name = std::get_if<cql::ColumnReference>(&select.selectors[0].expression->node);
  const schema::Column* column =
      name != nullptr ? first.explanation.uses[0].table->find(name->name) : nullptr;
  const bool fits = column != nullptr && column->type->cql_name() == second.partition_key(0).type->cql_name();
  return fits ? column->name : std::string();
}

using Selects = std::vector<const cql::Select*>;

// True if one of the SELECTs reads the column.
bool reads_column(const Selects& selects, const std::string& column) {
  const auto names = [&](const cql::Selector& selector) {
    const auto* name = std::get_if<cql::ColumnReference>(&selector.expression->node);
    return name == nullptr || name->name == column;
  };
  const auto compares = [&](const cql::Relation& one) {
    return std::find(one.columns.begin(), one.columns.end(), column) != one.columns.end();
  };
  return std::any_of(selects.begin(), selects.end(), [&](const cql::Select* select) {
    return select->selectors.empty() ||
           std::any_of(select->selectors.begin(), select->selectors.end(), names) ||
           std::any_of(select->where.begin(), select->where.end(), compares);
  });
}

// A table with the key of the first table that also stores the rows that the look-ups find, so that one
// partition has everything that the group reads.
class Joined {
 public:
  explicit Joined(const TableFacts& first) : shape(shape_of(*first.table)), facts(first) {}

  // Adds the columns of another table that the look-up reads. If it finds several rows, the columns that
  // distinguish them are added to the key. `by`: see joined_by. Returns pairs of column names: in the joined
  // table, and in the other table.
  std::vector<std::pair<std::string, std::string>> add(const TableFacts& other, const Selects& look_ups,
                                                       bool several_rows, const std::string& by) {
    std::vector<std::string> left;
    std::vector<std::pair<std::string, std::string>> columns;
    shape.name += (names_++ == 0 ? "_with_" : "_and_") + other.table->name;
    schema::Table table = *facts.table;
    for (const schema::Column& column : other.table->columns) {
      const bool is_key = column.is_primary_key();
      if (is_key && (shape.has(column.name) || (column.is_partition_key() && !by.empty()))) continue;
      if (!is_key && !reads_column(look_ups, column.name)) {
        left.push_back(column.name);
        continue;
      }
      schema::Column& added = table.columns.emplace_back(column);
      if (shape.has(column.name)) added.name = shape.free_name(other.table->name + "_" + column.name);
      added.kind = schema::ColumnKind::regular;
      added.id = next_id(table);
      facts.columns[added.name] = other.column(column);
      shape.columns.push_back({added.name, column.type->cql_name(), false});
      columns.emplace_back(added.name, column.name);
      if (several_rows && is_key)
        shape.clustering.push_back({added.name, column.is_clustering() && column.descending});
    }
    table.finish();
    facts.table = std::make_shared<const schema::Table>(std::move(table));
    facts.row_bytes += bytes_without(other, left);
    if (!left.empty()) kept_apart.push_back(fmt::format("{} in {}", listed(left), other.name));
    if (facts.rows && other.rows && *other.rows > 0) facts.writes += other.writes * *facts.rows / *other.rows;
    if (several_rows) multiply(other);
    return columns;
  }

  Shape shape;
  TableFacts facts;                     // columns from other tables are regular columns here
  std::vector<std::string> kept_apart;  // columns that the group does not read: "body in mails"

 private:
  static uint32_t next_id(const schema::Table& table) {
    uint32_t last = 0;
    for (const schema::Column& column : table.columns) last = std::max(last, column.id);
    return last + 1;
  }

  // Multiplies the rows by the rows per partition of the other table.
  void multiply(const TableFacts& other) {
    const std::optional<TableFacts::Rows> found = other.rows_per_partition();
    const auto multiplied = [&](std::optional<double>& rows) {
      if (rows) rows = found ? std::optional(*rows * found->mean) : std::nullopt;
    };
    multiplied(facts.growth);
    if (facts.rows && other.growth && other.partitions && *other.partitions > 0)
      facts.growth = facts.growth.value_or(0) + *facts.rows * *other.growth / *other.partitions;
    for (std::optional<double>* rows : {&facts.rows, &facts.p50, &facts.p99, &facts.max}) multiplied(*rows);
  }

  // The part of a row that remains without these columns, by the declared and usual sizes of values.
  static double bytes_without(const TableFacts& table, const std::vector<std::string>& left) {
    if (left.empty()) return table.row_bytes;
    Shape kept = shape_of(*table.table);
    std::erase_if(kept.columns, [&](const Shape::Column& one) {
      return std::find(left.begin(), left.end(), one.name) != left.end();
    });
    const double all = estimated_row_bytes(table);
    return all > 0 ? table.row_bytes * estimated_row_bytes(facts_of(table, kept)) / all : table.row_bytes;
  }

  int names_ = 0;
};

// Returns true if the second table is updated so much more often than the group reads that maintaining copies
// costs more than they save. Returns false if the rates are unknown.
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

// Advises to drop the old table, unless other statements read it.
std::string old_table_advice(const ReviewModel& model, const std::string& group, const TableFacts& table) {
  for (const StatementFacts& statement : model.statements) {
    if (statement.group == group || statement.select() == nullptr || statement.explanation.uses.empty())
      continue;
    if (model.find(*statement.explanation.uses[0].table) == &table)
      return fmt::format(" Keep {}: {} reads it.", table.name, statement.name);
  }
  return fmt::format(" No other statement reads {}; drop it after copying its rows.", table.name);
}

// The reads of a group, in order.
struct GroupReads {
  GroupReview review;
  std::vector<const StatementFacts*> statements;
  double requests = 0, rate = 0;
  double cost = 0;                                     // by the cost model, without the rows
  const TableFacts *first = nullptr, *last = nullptr;  // nullptr: unknown

  // True if the group sends one request. A statement may run less than once per execution of the group.
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
    const bool counted = query != review.queries.end() && query->partitions;
    out.cost += statement.times * model.cost.read(counted ? *query->partitions : 1, 0);
    out.rate = std::max(out.rate, statement.rate);
    const auto& uses = statement.explanation.uses;
    out.last = uses.empty() ? nullptr : model.find(*uses[0].table);
    if (out.statements.size() == 1) out.first = out.last;
    all_known = all_known && out.last != nullptr;
  }
  if (!all_known) out.first = out.last = nullptr;
  return out;
}

// Returns true if one table could answer the reads of two tables.
bool can_be_joined(const ReviewModel& model, const GroupReads& reads) {
  if (reads.first == reads.last || !reads.review.partitions || *reads.review.partitions < 2) return false;
  // A counter table cannot hold other columns, so both reads are needed.
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
  finding.message = fmt::format("Reads {} partitions where one would be enough: {}, then {}.",
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

bool finds_several(const StatementFacts& read, const TableFacts& table) {
  return read.explanation.uses[0].access != plan::Explanation::Access::rows &&
         table.table->clustering_count > 0 && !takes_one(*read.select());
}

// Returns true if a table that was looked up has a non-key column with the name of this table's key. That
// column then leads to this table.
bool is_named_later(const std::vector<const TableFacts*>& met, const schema::Table& table) {
  const schema::Column& key = table.partition_key(0);
  return std::any_of(met.begin() + 1, met.end(), [&](const TableFacts* other) {
    const schema::Column* column = other->table->find(key.name);
    return column != nullptr && !column->is_primary_key() && column->type->cql_name() == key.type->cql_name();
  });
}

// Finds the earlier table whose columns supply the key of this read: the column of joined_by for the
// partition key, otherwise columns with the same names and types.
void find_source(const StatementFacts& read, const schema::Table& table,
                 const std::vector<const TableFacts*>& met, const std::string& by, Proposal::LookedUp& out) {
  const bool whole_rows = read.explanation.uses[0].access == plan::Explanation::Access::rows;
  const size_t asked = table.partition_key_count + (whole_rows ? table.clustering_count : 0);
  for (const TableFacts* source : met) {
    out.by.clear();
    for (size_t i = 0; i < asked; ++i) {
      const schema::Column& column = table.columns[i];
      const schema::Column* there = source->table->find(i == 0 && !by.empty() ? by : column.name);
      if (there == nullptr || there->type->cql_name() != column.type->cql_name()) break;
      out.by.emplace_back(there->name, column.name);
    }
    out.from = source->name;
    if (out.by.size() == asked) return;
    if (!by.empty()) break;  // `by` is a column of the first table
  }
  out.by.clear();
}

Selects selects_of(const ReviewModel& model, const GroupReads& reads, const TableFacts& table) {
  Selects out;
  for (const StatementFacts* read : reads.statements)
    if (model.find(*read->explanation.uses[0].table) == &table) out.push_back(read->select());
  return out;
}

// Joins the first table with all others that the group reads.
Joined join(const ReviewModel& model, const GroupReads& reads, std::vector<Proposal::LookedUp>& looked_up) {
  Joined joined(*reads.first);
  std::vector<const TableFacts*> met{reads.first};
  for (const StatementFacts* read : reads.statements) {
    const TableFacts* table = model.find(*read->explanation.uses[0].table);
    if (std::find(met.begin(), met.end(), table) != met.end()) continue;
    Proposal::LookedUp& found = looked_up.emplace_back();
    found.table = table->name;
    found.several = finds_several(*read, *table);
    const std::string by =
        is_named_later(met, *table->table) ? "" : joined_by(*reads.statements.front(), *table->table);
    find_source(*read, *table->table, met, by, found);
    found.columns = joined.add(*table, selects_of(model, reads, *table), found.several, by);
    met.push_back(table);
  }
  return joined;
}

// Rows are stored in the order of the last read, over all keys that it looks up. Its ORDER BY or, with a
// LIMIT, its table's order comes first in the clustering key.
void order_like_last(const GroupReads& reads, const std::vector<Proposal::LookedUp>& looked_up,
                     Shape& shape) {
  const StatementFacts& last = *reads.statements.back();
  const cql::Select& select = *last.select();
  std::vector<Shape::Order> wanted;
  for (const cql::Ordering& order : select.order_by) wanted.push_back({order.column, order.descending});
  const schema::Table& table = *reads.last->table;
  if (wanted.empty() && (select.limit != nullptr || select.per_partition_limit != nullptr) &&
      table.clustering_count > 0)
    wanted.push_back({table.clustering(0).name, table.clustering(0).descending});
  std::vector<Shape::Order> front;
  for (Shape::Order& one : wanted) {
    for (const Proposal::LookedUp& found : looked_up)
      for (const auto& [name, column] : found.columns)
        if (found.table == reads.last->name && column == one.name) one.name = name;
    const auto same = [&](const Shape::Order& order) { return order.name == one.name; };
    if (std::none_of(shape.clustering.begin(), shape.clustering.end(), same)) return;
    std::erase_if(shape.clustering, same);
    front.push_back(one);
  }
  shape.clustering.insert(shape.clustering.begin(), front.begin(), front.end());
}

// The number of copies of the looked-up row that is copied most often; 0: unknown.
double copies_of_most_popular(const GroupReads& reads, const std::vector<Proposal::LookedUp>& looked_up) {
  const TableFacts& first = *reads.first;
  if (!first.rows || looked_up.empty() || looked_up.back().by.empty()) return 0;
  const auto column = first.columns.find(looked_up.back().by.front().first);
  if (column == first.columns.end() || !column->second.distinct) return 0;
  return *first.rows / zipf_sum(*column->second.distinct, column->second.skew);
}

void fix_by_join(const ReviewModel& model, const GroupReads& reads, Finding& finding) {
  const TableFacts& first = *reads.first;
  std::vector<Proposal::LookedUp> looked_up;
  Joined joined = join(model, reads, looked_up);
  order_like_last(reads, looked_up, joined.shape);
  std::vector<std::string> names;
  for (const Proposal::LookedUp& one : looked_up) names.push_back(one.table);
  const std::optional<double> rows = joined.facts.rows;
  const double more_bytes = rows.value_or(0) * joined.facts.row_bytes;
  const std::string apart =
      joined.kept_apart.empty()
          ? std::string()
          : fmt::format(" The group does not read {}: it stays there.", listed(joined.kept_apart));
  const bool split =
      propose_within_target(model, joined.facts, std::move(joined.shape), *reads.statements.front(), finding);
  Proposal proposal = *finding.proposal;
  proposal.looked_up = std::move(looked_up);
  finding.proposal = std::make_shared<const Proposal>(std::move(proposal));
  finding.fix =
      fmt::format("Store the data looked up in {} together with the rows of {}{}", fmt::join(names, " and "),
                  first.name,
                  split ? ". " + finding.fix : std::string(", so that one partition answers the query.")) +
      apart + old_table_advice(model, reads.review.name, first);
  if (split) finding.cost += " ";
  finding.cost += "Every change of a row is written to every copy";
  if (rows && reads.last->rows)
    finding.cost += fmt::format("; the copies take {} on each replica", size_text(more_bytes));
  if (!split) {
    const double ratio = reads.cost / model.cost.read(1, std::max(1.0, *reads.review.partitions - 1));
    finding.cost += fmt::format("; a read costs 1/{:.{}f} as much as now", ratio, ratio < 10 ? 1 : 0);
  }
  finding.cost += ".";
  constexpr double many = 10'000;
  if (const double copies = copies_of_most_popular(reads, looked_up); copies > many)
    finding.cost += fmt::format(
        " A change of the row that is used most writes {} copies: read such rows separately instead.",
        count_text(copies));
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
