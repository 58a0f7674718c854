#include "advisor/trial/pick.h"

#include <cmath>

#include "advisor/workload/spread.h"

namespace sibyl::advisor {
namespace {

using Access = plan::Explanation::Access;

// The Zipf exponent that gives the hottest partition its share; 0 if the share is nearly uniform.
double exponent_for(const TableData& data, const std::optional<double>& share) {
  constexpr double even = 2;
  const auto partitions = static_cast<double>(data.partitions());
  if (!share || partitions < 2 || *share * partitions < even) return 0;
  return zipf_exponent(partitions, *share);
}

// The recorded number of rows per partition, for a statement that reads whole partitions.
std::optional<double> rows_of_partition(const StatementFacts& statement) {
  if (statement.select() == nullptr || statement.explanation.uses.empty()) return std::nullopt;
  const plan::Explanation::TableUse& use = statement.explanation.uses[0];
  if (use.access != Access::partitions || use.has_limit || !use.clustering.empty()) return std::nullopt;
  if (statement.observed->partitions_read <= 0) return std::nullopt;
  return std::max(1.0, statement.observed->rows_read / statement.observed->partitions_read);
}

}  // namespace

Picker::Picker(const StatementFacts& statement, const DataPtr& data, double new_share)
    : data_(data), literals_(literals_of(*statement.tree, data->table())) {
  const auto& uses = statement.explanation.uses;
  deletes_rows_ = std::holds_alternative<cql::Delete>(statement.tree->node) && !uses.empty() &&
                  !uses[0].clustering.empty();
  if (std::holds_alternative<cql::Insert>(statement.tree->node)) {
    new_share_ = new_share;
  } else if (statement.skew >= 0) {
    ranks_.emplace(data->partitions(), statement.skew);
  } else if (statement.observed) {
    pick_as_recorded(statement);
  }
}

void Picker::pick_as_recorded(const StatementFacts& statement) {
  const TableFacts& facts = data_->facts();
  exponent_ = exponent_for(*data_, statement.is_write() ? facts.write_share : facts.read_share);
  ranks_.emplace(data_->partitions(), exponent_);
  const std::optional<double> wanted = statement.is_write() ? std::nullopt : rows_of_partition(statement);
  if (!wanted) return;
  // How far the number of rows is from the recorded one, on a logarithmic scale.
  const auto distance = [&](double rows) { return std::abs(std::log(std::max(1.0, rows) / *wanted)); };
  double best = distance(rows_with(0));
  for (uint64_t shift = 1; shift < data_->partitions(); shift *= 2) {
    const double other = distance(rows_with(shift));
    if (other >= best) continue;
    best = other;
    shift_ = shift;
  }
  if (distance(rows_by_rows()) < best) ranks_.reset();
}

// The mean number of rows in the partitions picked.
double Picker::rows_with(uint64_t shift) const {
  double weights = 0, rows = 0;
  for (uint64_t rank = 0; rank < data_->partitions(); ++rank) {
    const double weight = std::pow(static_cast<double>(rank + 1), -exponent_);
    weights += weight;
    rows += weight * static_cast<double>(data_->size((rank + shift) % data_->partitions()));
  }
  return rows / weights;
}

double Picker::rows_by_rows() const {
  double squares = 0;
  for (uint64_t i = 0; i < data_->partitions(); ++i) squares += std::pow(data_->size(i), 2);
  return squares / static_cast<double>(data_->rows());
}

// Inserted rows repeat after this fraction of the table, so that on any machine requests find about as many
// rows at the end as at the beginning.
constexpr uint64_t grown_by = 20;

TableData::Row Picker::pick(Random& random) const {
  if (new_share_ > 0 && random.unit() < new_share_)
    return data_->new_row((*inserted_)++ % std::max<uint64_t>(1, data_->rows() / grown_by));
  TableData::Row row = pick_any(random);
  // Rows with these values may be rare. After this many tries another row is used, as an application might
  // do.
  constexpr int tries = 200;
  for (int i = 0; i < tries && !has_literals(row); ++i) row = pick_any(random);
  if (const uint64_t deleted = data_->deleted(row.partition); deletes_rows_ && deleted > 0)
    return data_->deleted_row(row.partition, random.below(deleted));
  return row;
}

// Returns true if, for each column with literals, the row has one of them.
bool Picker::has_literals(const TableData::Row& row) const {
  std::string column;
  bool held = true;
  for (const ColumnLiteral& literal : literals_) {
    if (literal.column != column && !held) return false;
    held = (literal.column == column && held) ||
           data_->cell(*data_->table().find(literal.column), row) == literal.value;
    column = literal.column;
  }
  return held;
}

TableData::Row Picker::pick_any(Random& random) const {
  if (!ranks_) return data_->row(random.below(data_->rows()));
  const uint64_t partition = (ranks_->at(random.unit()) + shift_) % data_->partitions();
  return data_->row_at(partition, random.below(data_->size(partition)));
}

}  // namespace sibyl::advisor
