// Synthetic rows of a table, following declared or recorded statistics. Internal to src/advisor/trial.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "advisor/review/review_model.h"
#include "advisor/trial/literals.h"
#include "advisor/trial/trial.h"
#include "advisor/workload/synthetic.h"

namespace sibyl::advisor {

class TableData;

// Columns whose values are keys of another table, so that they can be used to look up its rows.
struct TableLink {
  std::shared_ptr<const TableData> to;
  std::vector<std::pair<std::string, std::string>> columns;  // column of this table, column of `to`
  // true: a value leads to a single row; false: to a partition.
  bool to_rows = false;

  bool has(std::string_view column) const;
};

// Synthetic data with the known numbers of rows, partitions and distinct values, and the known skew. A row is
// computed from its number. Immutable, and thus thread-safe, once it is shared.
class TableData {
 public:
  // `literals`: values that the columns must contain. `assumed` receives a message for each assumption.
  TableData(TableFacts facts, uint64_t seed, const std::vector<ColumnLiteral>& literals,
            std::vector<std::string>& assumed);

  struct Row {
    uint64_t number = 0;     // within the table
    uint64_t partition = 0;  // index of its partition
    uint64_t place = 0;      // position among all rows that its partition ever had
  };

  // REQUIRES, for both functions: the data is not shared yet. No column has two links, and links form no
  // cycle.
  void add_link(TableLink link) { links_.push_back(std::move(link)); }
  // Makes the table a queue: marks the first rows of each partition as deleted, `each` on average and more in
  // larger partitions. `rate`: rows per second that arrive in a partition.
  void mark_first_deleted(double each, std::optional<double> rate);

  const std::vector<TableLink>& links() const { return links_; }
  // The row that `row` leads to; for a link to partitions, the first row of the partition. The row may not
  // exist: check has().
  Row linked(const TableLink& link, const Row& row) const;
  bool has(const Row& row) const { return row.number < rows_; }

  // Functions about rows deleted from the front of a partition: the number of these rows, one of these rows,
  // and the mean number of deleted rows that a read from the front skips.
  uint64_t deleted(uint64_t partition) const { return partition < deleted_.size() ? deleted_[partition] : 0; }
  Row deleted_row(uint64_t partition, uint64_t place) const { return {rows_ + place, partition, place}; }
  double mean_tombstones_met() const;
  uint64_t rows() const { return rows_; }
  uint64_t partitions() const { return partitions_; }
  double rows_per_partition() const { return static_cast<double>(rows_) / static_cast<double>(partitions_); }
  // Number of rows of a partition. Unless sizes were drawn at random, earlier partitions are larger.
  uint64_t size(uint64_t partition) const { return sizes_[partition]; }
  Row row(uint64_t number) const;
  // The row at a position of a partition. Positions beyond the end give rows that do not exist yet.
  Row row_at(uint64_t partition, uint64_t place) const;
  // A row that does not exist yet, in an existing partition. Deterministic for a given `count`.
  Row new_row(uint64_t count) const;
  // The last row of a partition.
  Row newest(uint64_t partition) const { return row_at(partition, sizes_[partition] - 1); }

  base::Bytes cell(const schema::Column& column, const Row& row) const {
    return cell(column, row, *column.type);
  }
  // Like cell() above, for a column whose type has changed.
  base::Bytes cell(const schema::Column& column, const Row& row, const types::Type& type) const;
  // A value of a non-key column that is larger than this share of the column's values.
  base::Bytes quantile(const schema::Column& column, double share) const;
  // The time when a row was written, in milliseconds after synthetic_epoch().
  double moment(const Row& row) const { return static_cast<double>(row.place) * row_interval_ms_; }
  double row_interval_ms() const { return row_interval_ms_; }  // milliseconds between rows of a partition

  const TableFacts& facts() const { return facts_; }
  const schema::Table& table() const { return *facts_.table; }

 private:
  void take_literals(const std::vector<ColumnLiteral>& literals, std::vector<std::string>& assumed);
  void count(std::vector<std::string>& assumed);
  void size_partitions(std::vector<std::string>& assumed);
  uint64_t link_number(const TableLink& link, const Row& row) const;
  uint64_t number_of(const schema::Column& column, const Row& row) const;
  uint64_t key_number(size_t position, size_t first, size_t count, uint64_t whole) const;
  uint64_t values_of(const schema::Column& column) const;

  TableFacts facts_;
  uint64_t seed_;
  uint64_t rows_ = 1, partitions_ = 1;
  double row_interval_ms_ = 0;
  std::vector<uint32_t> sizes_;  // per partition
  // For each partition, the number of rows in all earlier partitions, without the first row of each.
  std::vector<uint64_t> rest_;
  std::vector<uint32_t> deleted_;  // number of deleted rows at the front of each partition; empty: none
  std::vector<TableLink> links_;
  // For tables without clustering columns: row sizes relative to the mean, repeated for further rows. Empty
  // if all rows have the same size.
  std::vector<float> weights_;
  std::vector<Ranks> ranks_;  // per column: distribution of the values; a single rank if unknown
  // For each column, its first values: literals of the statements.
  std::map<std::string, std::vector<base::Bytes>> literals_;
};

}  // namespace sibyl::advisor
