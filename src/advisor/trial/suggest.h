// The tables that a review suggests, as far as they can be filled and read. Internal to src/advisor/trial.
#pragma once

#include <string>
#include <vector>

#include "advisor/review/fix.h"
#include "advisor/trial/chain.h"

namespace sibyl::advisor {

// A table that replaces another one, or an additional table for one query or group.
struct Suggestion {
  std::string text;  // the CREATE TABLE statement
  TrialTable target;
  double partitions = 1;  // partitions that a read needs
  bool replaces = false;
  bool exists = false;                    // the table already exists; the query reads it instead
  const StatementFacts* query = nullptr;  // for a group, its first query
  std::string group;                      // the group that it answers; empty: only `query`
  std::optional<Proposal::Queue> queue;   // set if it replaces a queue

  bool has_table() const { return target.data != nullptr; }
};

// The use of the table as a queue; nullopt if the review has no such finding.
std::optional<Proposal::Queue> queue_of(const Review& review, const std::string& table);

// The data of the table that the finding is about; nullptr if there is none.
DataPtr base_of(const Finding& finding, const std::vector<DataPtr>& data);

// Additional input for a finding's tables: the chain of reads, or the reason why the fix cannot be run.
struct Prepared {
  ChainPtr chain;
  std::string obstacle;
};

// Reads the finding's suggestion into `out`. If there is none, `out` stays empty and the reason is returned.
// The reason is empty if another finding makes the same suggestion.
std::string read_suggestion(const Review& review, const Finding& finding, const std::vector<DataPtr>& data,
                            const Prepared& prepared, Suggestion& out);

}  // namespace sibyl::advisor
