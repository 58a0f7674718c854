// Estimates the rows that a SELECT reads and returns.
#include <algorithm>

#include "advisor/review/statement.h"

namespace sibyl::advisor {
namespace {

using Access = plan::Explanation::Access;
using cql::Operator;

std::optional<double> literal_number(const cql::ExpressionPtr& expression) {
  if (expression == nullptr) return std::nullopt;
  const auto* literal = std::get_if<cql::Literal>(&expression->node);
  return literal != nullptr ? read_number(literal->text) : std::nullopt;
}

// The number of values in the comparison; none: given when the statement is executed.
std::optional<double> values_of(const cql::Relation& relation) {
  if (relation.op != Operator::in) return 1;
  if (!relation.has_value_list) return std::nullopt;
  return static_cast<double>(relation.values.size());
}

bool bounds_a_range(Operator op) {
  return op != Operator::not_equal && op != Operator::not_in && op != Operator::is_not_null &&
         op != Operator::not_contains && op != Operator::not_contains_key;
}

// The share of rows that a comparison keeps; none if the column's distinct values are unknown.
std::optional<double> selectivity(const ReviewModel& model, const TableFacts& table,
                                  const cql::Relation& relation) {
  const bool contains = relation.op == Operator::contains || relation.op == Operator::contains_key;
  if (contains) {
    const schema::Column* column = table.table->find(relation.columns[0]);
    if (column == nullptr || !table.column(*column).distinct) return std::nullopt;
    return std::min(1.0, elements_of(table.column(*column)) / *table.column(*column).distinct);
  }
  if (relation.op != Operator::equal && relation.op != Operator::in)
    return bounds_a_range(relation.op) ? model.cost.range_selectivity : 1;
  std::optional<double> values = values_of(relation);
  for (const std::string& name : relation.columns) {
    const schema::Column* column = table.table->find(name);
    const std::optional<double> distinct =
        column != nullptr && relation.target != cql::Relation::Target::element
            ? table.column(*column).distinct
            : std::nullopt;
    values = values && distinct ? std::optional(*values / *distinct) : std::nullopt;
  }
  return values ? std::optional(std::min(1.0, *values)) : std::nullopt;
}

class Rows {
 public:
  Rows(const ReviewModel& model, const StatementFacts& statement, const TableFacts& table,
       const std::vector<std::string>& filters, QueryReview& out)
      : model_(model),
        statement_(statement),
        select_(*statement.select()),
        use_(statement.explanation.uses[0]),
        table_(table),
        filters_(filters),
        out_(out) {}

  void estimate() {
    std::optional<double> read = rows_in_scope();
    std::optional<double> kept = 1, filtered = 1;  // unknown if one comparison's share is unknown
    shares(kept, filtered);
    if (read) {
      out_.rows_read = kept ? std::optional(std::max(std::min(1.0, *read), *read * *kept)) : std::nullopt;
    }
    // If nothing is filtered, the rows read are the rows returned.
    if (!out_.rows_read && filters_.empty()) out_.rows_read = statement_.rows;
    stop_early();
    out_.rows_returned = statement_.rows;
    if (!out_.rows_returned && out_.rows_read && filtered) out_.rows_returned = *out_.rows_read * *filtered;
    limit_returned();
  }

 private:
  bool ends_early() const { return filters_.empty() && !use_.sorts && !use_.aggregates && !use_.groups; }

  // The rows in the part of the table that the statement reads.
  std::optional<double> rows_in_scope() const {
    const bool everywhere = use_.access == Access::full_scan || use_.access == Access::token_range;
    // DISTINCT reads one row per partition.
    if (select_.distinct) return everywhere ? table_.partitions : out_.partitions;
    if (everywhere || use_.access == Access::index) return starts_empty() ? rows_then() : table_.rows;
    if (!out_.partitions) return std::nullopt;
    if (use_.access == Access::rows) return named_rows();
    const auto each = starts_empty() ? table_.rows_per_partition_after(model_.horizon_of(table_))
                                     : table_.rows_per_partition();
    if (!each) return std::nullopt;
    // An interval has a share of the rows in proportion to its length, whatever the periods are.
    if (statement_.span && table_.period_width())
      return each->mean * *statement_.span / *table_.period_width();
    return each->mean * *out_.partitions;
  }

  // An estimate for a table without rows would be meaningless, so it is made for the horizon.
  bool starts_empty() const { return table_.growth && table_.rows.value_or(0) <= 0; }
  std::optional<double> rows_then() const { return table_.rows_after(model_.horizon_of(table_)); }

  std::optional<double> named_rows() const {
    std::optional<double> rows = out_.partitions;
    for (const cql::Relation& relation : select_.where) {
      const schema::Column* column =
          relation.columns.empty() ? nullptr : table_.table->find(relation.columns[0]);
      if (column == nullptr || !column->is_clustering()) continue;
      const std::optional<double> values = values_of(relation);
      rows = rows && values ? std::optional(*rows * *values) : std::nullopt;
    }
    return rows;
  }

  // Returns true if an earlier comparison bounds the same range.
  bool bounds_again(size_t at) const {
    const cql::Relation& relation = select_.where[at];
    if (relation.op == Operator::equal || relation.op == Operator::in || !bounds_a_range(relation.op))
      return false;
    return std::any_of(select_.where.begin(), select_.where.begin() + static_cast<ptrdiff_t>(at),
                       [&](const cql::Relation& other) {
                         return other.columns == relation.columns && other.target == relation.target &&
                                bounds_a_range(other.op);
                       });
  }

  void shares(std::optional<double>& kept, std::optional<double>& filtered) const {
    for (size_t i = 0; i < select_.where.size(); ++i) {
      const cql::Relation& relation = select_.where[i];
      const schema::Column* column =
          relation.columns.empty() ? nullptr : table_.table->find(relation.columns[0]);
      if (column == nullptr || use_.access == Access::rows || bounds_again(i)) continue;
      if (select_.distinct && column->is_partition_key() && use_.access != Access::full_scan) continue;
      if (column->is_partition_key() && use_.access == Access::partitions) continue;
      if (statement_.span && column->is_clustering() && table_.is_time(*column)) continue;
      const bool checked = std::find(filters_.begin(), filters_.end(), column->name) != filters_.end();
      std::optional<double>& share = checked ? filtered : kept;
      const std::optional<double> own = selectivity(model_, table_, relation);
      share = share && own ? std::optional(*share * *own) : std::nullopt;
    }
  }

  void stop_early() {
    if (!ends_early()) return;
    const auto at_most = [&](double rows) { out_.rows_read = std::min(out_.rows_read.value_or(rows), rows); };
    if (const auto each = literal_number(select_.per_partition_limit); each && out_.partitions)
      at_most(*each * *out_.partitions);
    if (const auto all = literal_number(select_.limit)) at_most(*all * requests());
  }

  // A statement that runs once per bucket applies its LIMIT to each.
  double requests() const { return statement_.span ? out_.partitions.value_or(1) : 1; }

  void limit_returned() {
    const auto at_most = [&](const std::optional<double>& rows) {
      if (rows && out_.rows_returned) out_.rows_returned = std::min(*out_.rows_returned, *rows);
    };
    if (use_.groups && select_.group_by.size() <= table_.table->partition_key_count) at_most(out_.partitions);
    if (const auto each = literal_number(select_.per_partition_limit); each && out_.partitions)
      at_most(*each * *out_.partitions);
    if (const auto all = literal_number(select_.limit)) at_most(*all * requests());
    if (use_.aggregates && !use_.groups) out_.rows_returned = requests();
  }

  const ReviewModel& model_;
  const StatementFacts& statement_;
  const cql::Select& select_;
  const plan::Explanation::TableUse& use_;
  const TableFacts& table_;
  const std::vector<std::string>& filters_;
  QueryReview& out_;
};

}  // namespace

double elements_of(const ColumnFacts& column) {
  constexpr double assumed = 4;  // the default size of a collection
  return column.elements.value_or(assumed);
}

void estimate_rows(const ReviewModel& model, const StatementFacts& statement, const TableFacts& table,
                   const std::vector<std::string>& filters, QueryReview& out) {
  if (statement.select() == nullptr) return;
  if (statement.observed && statement.observed->calls > 0) {
    out.rows_read = statement.observed->rows_read / statement.observed->calls;
    out.rows_returned = statement.observed->rows_returned / statement.observed->calls;
    return;
  }
  Rows(model, statement, table, filters, out).estimate();
}

}  // namespace sibyl::advisor
