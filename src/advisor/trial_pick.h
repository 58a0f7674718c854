// Which rows requests are about. Internal to trials.
#pragma once

#include <memory>
#include <optional>

#include "advisor/trial_target.h"

namespace sibyl::advisor {

// Draws the row of each execution of a statement. Executions of one statement share what they have inserted.
class Picker {
 public:
  // As unevenly as declared or recorded; of a statement that reads whole partitions and was recorded, so that
  // on average it finds as many rows as it did. `new_share`: of inserted rows that were not there before.
  // Rows that have the values written in the statement. Of a queue's rows those that have been taken are
  // deleted, again: so it is as long at the end as at the beginning.
  Picker(const StatementFacts& statement, const DataPtr& data, double new_share);

  TableData::Row pick(Random& random) const;

 private:
  void pick_as_recorded(const StatementFacts& statement);
  TableData::Row pick_any(Random& random) const;
  bool has_literals(const TableData::Row& row) const;
  double rows_with(uint64_t shift) const;
  double rows_by_rows() const;

  DataPtr data_;
  std::optional<Ranks> ranks_;  // of partitions, the hottest first; none: partitions by their rows
  std::vector<ColumnLiteral> literals_;
  double exponent_ = 0;
  uint64_t shift_ = 0;  // the hottest is this partition: the larger the number, the smaller it is
  double new_share_ = 0;
  bool deletes_rows_ = false;
  std::shared_ptr<uint64_t> inserted_ = std::make_shared<uint64_t>(0);
};

}  // namespace sibyl::advisor
