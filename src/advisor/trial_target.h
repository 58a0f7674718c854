// Tables that a trial fills with the rows of a reviewed one, and the values of requests. Internal to trials.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "advisor/trial_data.h"

namespace sibyl::advisor {

using DataPtr = std::shared_ptr<const TableData>;

// How a table's partitions are split by the column that a fix adds: by a hash or by time; no name: not at
// all.
struct SplitColumn {
  std::string name;
  double modulo = 0, width = 0;  // seconds

  std::optional<base::Bytes> of(const TableData& data, const TableData::Row& row) const;
  // The bucket of a moment after the first of all, and the column's value for it. Buckets of different
  // partitions turn at different times: so requests of one moment meet them as full as requests at all times.
  int64_t number(uint64_t partition, double milliseconds) const;
  std::optional<base::Bytes> bucket(int64_t number) const;
};

// Values that are not those of the row that a request is about.
struct RequestShape {
  enum class Bound { none, lower, upper };
  std::vector<Bound> bounds;         // of each marker; empty: no ranges
  double listed = 3;                 // values of an `IN ?`
  double limit = 10;                 // of a `LIMIT ?`
  std::optional<double> range_rows;  // of its partition, between bounds of clustering columns; else a share
  double range_share = 0.1;          // of all, between bounds

  bool has_ranges() const;
};

// Columns that a fix has added, with the values of a row.
using AddedCells = std::vector<std::pair<std::string, std::optional<base::Bytes>>>;

// The values of a request for a row: each marker's column, and the columns that a fix has added.
struct Binding {
  DataPtr data;
  AddedCells added;
  RequestShape shape;
  std::optional<std::pair<TableData::Row, TableData::Row>> between =
      {};  // what bounds are; none: as in `shape`

  Cells cells(const std::vector<Marker>& markers, const TableData::Row& row, Random& random) const;

 private:
  // A range that the row's partition has, or a share of all.
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

// A table to be filled.
struct TrialTable {
  std::string name, keyspace;
  DataPtr data;
  std::vector<SplitColumn> splits;                   // columns that a fix adds, by which partitions are split
  std::vector<std::string> columns;                  // in the order of the statement that loads it
  std::map<std::string, types::TypePtr> types = {};  // of columns that it adds, or has given another type
  // Where rows of other tables are stored with its own: the reads that lead to them, and of columns the read
  // and its table's column. nullptr: they are not.
  std::shared_ptr<const Chain> chain = {};
  std::map<std::string, std::pair<size_t, std::string>> looked_up = {};

  const SplitColumn* by_time() const;
  AddedCells added_cells(const TableData::Row& row) const;

  // INSERT of every column; of counters UPDATE.
  std::string load_text() const;
  // What it holds for a row of the data: one row, or those of others that belong to it.
  std::vector<Cells> rows_for(const TableData::Row& row) const;
  // The same of rows that belong together: one of each read of the chain, or the row alone.
  Cells row_cells(const std::vector<TableData::Row>& together) const;
  // DELETE of one row of the data.
  std::string delete_text() const;
  Cells key_cells(const TableData::Row& row) const;

 private:
  std::vector<std::string> key() const;
};

// The table itself.
TrialTable trial_table(const DataPtr& data);

}  // namespace sibyl::advisor
