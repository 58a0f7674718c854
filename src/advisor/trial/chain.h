// Reads that run one after the other. Each uses the results of earlier ones. Internal to src/advisor/trial.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "advisor/review/fix.h"
#include "advisor/trial/actions.h"

namespace sibyl::advisor {

struct Chain {
  // Rows that belong together: one per read, all reached from one row of the first read.
  using JoinedRows = std::vector<TableData::Row>;

  struct Read {
    Trial::Text text;
    DataPtr data;
    std::vector<std::pair<std::string, size_t>> answers;  // columns, and their positions in the result
    // The read whose rows lead to this read; `link` says how.
    size_t from = 0;
    TableLink link;
    bool several = false;  // finds several rows for each row that leads to it
    bool lists = false;    // reads the rows of all of them in one request, with IN ?
    double share = 1;      // the read runs for this share of the rows that lead to it
    double times = 1;      // executions per execution of the first read, as declared
    std::optional<double> partitions, rows_read, rows_returned;  // expected numbers for one request
  };
  std::vector<Read> reads;

  // Calls `visit` with the rows that belong to a row of the first table, in the order of their places. A
  // missing row is `missing_row`.
  static constexpr TableData::Row missing_row = {UINT64_MAX, 0, 0};
  void each(const TableData::Row& first, const std::function<void(const JoinedRows&)>& visit) const;
  // For each partition of the read's table: the numbers of the rows of the first table that lead to it.
  std::vector<std::vector<uint64_t>> copies(size_t read) const;
  // The mean number of combined rows per row of the first table.
  double multiplied() const;
  // The work of one execution and the rows that all its reads return. Empty if unknown.
  struct Expected {
    Work work;
    double rows = 0;
  };
  std::optional<Expected> expected() const;
  double requests() const;  // declared requests per execution
};
using ChainPtr = std::shared_ptr<const Chain>;

// Builds the chain for a group whose tables a finding joins, and links their data so that values of one table
// lead to rows of the next. Returns the reason if that is impossible, otherwise an empty string. REQUIRES: no
// row of the data has been read yet.
std::string link_group(const Finding& finding, const std::vector<Source>& sources,
                       const std::vector<std::shared_ptr<TableData>>& data, Chain& out);

// Runs the reads of the chain, each with the results of earlier ones.
Action run_chain(const ChainPtr& chain, const Source& first, Trial& trial);

}  // namespace sibyl::advisor
