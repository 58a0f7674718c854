// Statements that run one after the other, each asking for what the ones before it have found. Internal to
// trials.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "advisor/review_fix.h"
#include "advisor/trial_actions.h"

namespace sibyl::advisor {

struct Chain {
  // A row of each read: all that are led to from one of the first.
  using Together = std::vector<TableData::Row>;

  struct Read {
    Trial::Text text;
    DataPtr data;
    std::vector<std::pair<std::string, size_t>> answers;  // columns, and where they stand in what it returns
    size_t from = 0;                                      // the read whose rows lead to it, and by what
    TableLink link;
    bool several = false;  // rows, for each that leads to it
    bool lists = false;    // asks for all of them at once: IN ?
    double share = 1;      // of the rows that lead to it: those that it is run for
    double times = 1;      // declared, each time the first runs
    std::optional<double> partitions, rows_read, rows_returned;  // expected of one request
  };
  std::vector<Read> reads;

  // Rows that belong together with a row of the first table, in the order of their places; `nowhere` for one
  // that is not there.
  static constexpr TableData::Row nowhere = {UINT64_MAX, 0, 0};
  void each(const TableData::Row& first, const std::function<void(const Together&)>& visit) const;
  // Of each partition of a read's table: the rows of the first one that lead to it.
  std::vector<std::vector<uint64_t>> copies(size_t read) const;
  // Rows that the first one's become on average.
  double multiplied() const;
  // What one execution takes, and the rows that all reads together return; nullopt: not known.
  struct Expected {
    Work work;
    double rows = 0;
  };
  std::optional<Expected> expected() const;
  double requests() const;  // as declared
};
using ChainPtr = std::shared_ptr<const Chain>;

// The reads of a group whose tables a finding joins, and their data linked so that values lead from one to
// the next. Why that cannot be is returned; empty: it is done. REQUIRES: no row of the data has been asked
// for.
std::string link_group(const Finding& finding, const std::vector<Source>& sources,
                       const std::vector<std::shared_ptr<TableData>>& data, Chain& out);

// Runs the reads with what they find.
Action run_chain(const ChainPtr& chain, const Source& first, Trial& trial);

}  // namespace sibyl::advisor
