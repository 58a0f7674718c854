// Chooses the rows that requests are about. Internal to src/advisor/trial.
#pragma once

#include <memory>
#include <optional>

#include "advisor/trial/target.h"

namespace sibyl::advisor {

// Draws a row for each execution of a statement. Remembers the rows that the statement has inserted.
class Picker {
 public:
  // Rows are drawn with the declared or recorded skew, and match the literals of the statement. For a
  // recorded statement that reads whole partitions, the partitions are chosen so that the mean number of rows
  // is as recorded. `new_share` is the share of inserted rows that are new. A DELETE on a queue deletes rows
  // that are already deleted, so the queue keeps its length.
  Picker(const StatementFacts& statement, const DataPtr& data, double new_share);

  TableData::Row pick(Random& random) const;

 private:
  void pick_as_recorded(const StatementFacts& statement);
  TableData::Row pick_any(Random& random) const;
  bool has_literals(const TableData::Row& row) const;
  double rows_with(uint64_t shift) const;
  double rows_by_rows() const;

  DataPtr data_;
  std::optional<Ranks> ranks_;  // ranks of partitions, hottest first; none: drawn in proportion to their rows
  std::vector<ColumnLiteral> literals_;
  double exponent_ = 0;
  uint64_t shift_ = 0;  // shifts the ranks of partitions: with a larger shift, a smaller partition is the
                        // hottest
  double new_share_ = 0;
  bool deletes_rows_ = false;
  std::shared_ptr<uint64_t> inserted_ = std::make_shared<uint64_t>(0);
};

}  // namespace sibyl::advisor
