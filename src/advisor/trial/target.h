// Tables that a trial fills with the rows of a reviewed table, and the values of requests. Internal to
// src/advisor/trial.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "advisor/trial/data.h"

namespace sibyl::advisor {

using DataPtr = std::shared_ptr<const TableData>;

// A partition key column that a fix adds: a hash prefix or a time bucket. No name: no split.
struct SplitColumn {
  std::string name;
  double modulo = 0, width = 0;  // width in seconds

  std::optional<base::Bytes> of(const TableData& data, const TableData::Row& row) const;
  // Returns the number of the time bucket at `milliseconds` after synthetic_epoch(). bucket() returns the
  // column's value for that number. The boundaries of buckets differ between partitions, so that requests at
  // one point in time use buckets of every age.
  int64_t number(uint64_t partition, double milliseconds) const;
  std::optional<base::Bytes> bucket(int64_t number) const;
};

// Values of a request that do not come from the row that it is about.
struct RequestShape {
  enum class Bound { none, lower, upper };
  std::vector<Bound> bounds;  // the bound of each marker; empty: there are no ranges
  double listed = 3;          // number of values for `IN ?`
  double limit = 10;          // number of rows of a `LIMIT ?`
  // The number of rows that a range of clustering columns selects in the partition; none: use range_share.
  std::optional<double> range_rows;
  double range_share = 0.1;  // share of all rows in a range

  bool has_ranges() const;
};

// Columns that a fix adds, with the values of a row.
using AddedCells = std::vector<std::pair<std::string, std::optional<base::Bytes>>>;

// The values of a request for a row: values of the markers' columns, and values of columns that a fix adds.
struct Binding {
  DataPtr data;
  AddedCells added;
  RequestShape shape;
  // The bounds of ranges; none: drawn according to `shape`.
  std::optional<std::pair<TableData::Row, TableData::Row>> between = {};

  Cells cells(const std::vector<Marker>& markers, const TableData::Row& row, Random& random) const;

 private:
  // A range of rows of the row's partition, or a range of quantiles.
  struct Range {
    TableData::Row lower, upper;
    double from = 0, to = 1;
  };
  Range range(const TableData::Row& row, Random& random) const;
  std::optional<base::Bytes> cell(const Marker& marker, const TableData::Row& row, Random& random) const;
  std::optional<base::Bytes> bound(const Marker& marker, const Range& range, bool upper) const;
  std::optional<base::Bytes> list_for(const Marker& marker, Random& random) const;
};

struct Chain;

// A table that a trial loads.
struct TrialTable {
  std::string name, keyspace;
  DataPtr data;
  std::vector<SplitColumn> splits;  // columns that a fix adds to split partitions
  // The columns in the order in which the load statement names them.
  std::vector<std::string> columns;
  std::map<std::string, types::TypePtr> types = {};  // types of columns that are new or have another type
  // For a table that also stores rows of other tables: the reads that lead to them, and for each such column
  // the read and the column of its table. nullptr: it stores only its own rows.
  std::shared_ptr<const Chain> chain = {};
  std::map<std::string, std::pair<size_t, std::string>> looked_up = {};

  const SplitColumn* by_time() const;
  AddedCells added_cells(const TableData::Row& row) const;

  // An INSERT of every column; for counters, an UPDATE.
  std::string load_text() const;
  // Returns the table's rows for a row of the data: one row, or one for each combination with rows of other
  // tables.
  std::vector<Cells> rows_for(const TableData::Row& row) const;
  // The table's row for rows that belong together: one per read of the chain, or a single row without a
  // chain.
  Cells row_cells(const std::vector<TableData::Row>& together) const;
  // A DELETE of one row.
  std::string delete_text() const;
  Cells key_cells(const TableData::Row& row) const;

 private:
  std::vector<std::string> key() const;
};

// Returns the given table, unchanged.
TrialTable trial_table(const DataPtr& data);

}  // namespace sibyl::advisor
