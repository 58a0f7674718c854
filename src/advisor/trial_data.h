// Rows of a table with declared or recorded statistics. Internal to trials.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "advisor/review_model.h"
#include "advisor/synthetic.h"
#include "advisor/trial.h"
#include "advisor/trial_literals.h"

namespace sibyl::advisor {

class TableData;

// Columns whose values are those of another table's key: its rows can be looked up by them.
struct TableLink {
  std::shared_ptr<const TableData> to;
  std::vector<std::pair<std::string, std::string>> columns;  // here, and there
  bool to_rows = false;                                      // single ones; else partitions

  bool has(std::string_view column) const;
};

// As many rows, partitions and values as are known of, as uneven; a row is computed from its number. Nothing
// changes once it is shared.
class TableData {
 public:
  // `literals`: values that the columns have among others. `assumed`: told what is not known.
  TableData(TableFacts facts, uint64_t seed, const std::vector<ColumnLiteral>& literals,
            std::vector<std::string>& assumed);

  struct Row {
    uint64_t number = 0;     // of all
    uint64_t partition = 0;  // which one it lies in
    uint64_t place = 0;      // among all that its partition has had
  };

  // REQUIRES of both: before it is shared. No column has two links, and no table leads to itself.
  void add_link(TableLink link) { links_.push_back(std::move(link)); }
  // Makes a queue of it: the first rows of each partition have been deleted, on average so many, and more of
  // larger ones. `rate`: of rows that come to a partition in a second.
  void delete_first(double each, std::optional<double> rate);

  const std::vector<TableLink>& links() const { return links_; }
  // The row there that one here leads to: the first of its partition unless it leads to rows. It may be one
  // that is not there.
  Row linked(const TableLink& link, const Row& row) const;
  bool has(const Row& row) const { return row.number < rows_; }

  // Rows that a partition has lost, from its first on, and how many a read of its first rows meets.
  uint64_t deleted(uint64_t partition) const { return partition < deleted_.size() ? deleted_[partition] : 0; }
  Row deleted_row(uint64_t partition, uint64_t place) const { return {rows_ + place, partition, place}; }
  double deleted_met() const;
  uint64_t rows() const { return rows_; }
  uint64_t partitions() const { return partitions_; }
  double rows_per_partition() const { return static_cast<double>(rows_) / static_cast<double>(partitions_); }
  // Rows of a partition; of earlier partitions more where they were not drawn by chance.
  uint64_t size(uint64_t partition) const { return sizes_[partition]; }
  Row row(uint64_t number) const;
  // The row at a place among those of a partition, which may be one that is not there yet.
  Row row_at(uint64_t partition, uint64_t place) const;
  // A row that is not there yet, in the partition of one that is; the same for the same `count`.
  Row new_row(uint64_t count) const;
  // The last one of a partition.
  Row newest(uint64_t partition) const { return row_at(partition, sizes_[partition] - 1); }

  base::Bytes cell(const schema::Column& column, const Row& row) const {
    return cell(column, row, *column.type);
  }
  // The same in a column that has been given another type.
  base::Bytes cell(const schema::Column& column, const Row& row, const types::Type& type) const;
  // A value of a column outside the key that about this share of its values is below.
  base::Bytes quantile(const schema::Column& column, double share) const;
  // When a row was written, in milliseconds after the first of all.
  double moment(const Row& row) const { return static_cast<double>(row.place) * apart_; }
  double apart() const { return apart_; }  // milliseconds between rows of a partition

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
  double apart_ = 0;
  std::vector<uint32_t> sizes_;    // of each partition
  std::vector<uint64_t> rest_;     // rows of the partitions before each, their first ones left out
  std::vector<uint32_t> deleted_;  // of each partition, from its first on; empty: none
  std::vector<TableLink> links_;
  std::vector<float> weights_;  // of rows that are partitions of their own: size over mean; empty: even
  std::vector<Ranks> ranks_;    // of each column's values; of one value: unknown
  std::map<std::string, std::vector<base::Bytes>> literals_;  // a column's values of the first numbers
};

}  // namespace sibyl::advisor
