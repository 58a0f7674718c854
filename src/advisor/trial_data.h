// Rows of a table that a file declares statistics of. Internal to trials.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "advisor/review_model.h"
#include "advisor/synthetic.h"
#include "advisor/trial.h"

namespace sibyl::advisor {

// As many rows, partitions and values as declared, as uneven; a row is computed from its number. Nothing
// changes after the constructor.
class TableData {
 public:
  // `assumed`: told what was not declared.
  TableData(TableFacts facts, uint64_t seed, std::vector<std::string>& assumed);

  struct Row {
    uint64_t number = 0;     // of all
    uint64_t partition = 0;  // which one it lies in
    uint64_t place = 0;      // within its partition
  };
  uint64_t rows() const { return partition_of_.size(); }
  uint64_t partitions() const { return partitions_; }
  Row row(uint64_t number) const { return {number, partition_of_[number], place_of_[number]}; }
  // A row that is not there yet, in the partition of one that is.
  Row new_row(uint64_t count, Random& random) const;
  // The last one of a partition.
  Row newest(uint64_t partition) const;

  base::Bytes cell(const schema::Column& column, const Row& row) const;
  // When a row was written, in milliseconds after the first of all.
  double moment(const Row& row) const { return static_cast<double>(row.place) * apart_; }
  double apart() const { return apart_; }  // milliseconds between rows of a partition

  const TableFacts& facts() const { return facts_; }
  const schema::Table& table() const { return *facts_.table; }

 private:
  uint64_t number_of(const schema::Column& column, const Row& row) const;
  uint64_t key_number(size_t position, size_t first, size_t count, uint64_t whole) const;

  TableFacts facts_;
  uint64_t seed_;
  uint64_t partitions_ = 1;
  double apart_ = 0;
  std::vector<uint32_t> partition_of_, place_of_, sizes_;  // of each row, of each partition
  std::vector<Ranks> ranks_;                               // of each column's values; of one value: unknown
};

}  // namespace sibyl::advisor
