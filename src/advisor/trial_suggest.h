// The tables that a review suggests, as far as they can be filled and asked. Internal to trials.
#pragma once

#include <string>
#include <vector>

#include "advisor/review_fix.h"
#include "advisor/trial_chain.h"

namespace sibyl::advisor {

// A table that takes the place of one, or stands beside it for one query, or for a group of them.
struct Suggestion {
  std::string text;  // its definition
  TrialTable target;
  double partitions = 1;  // that a read takes
  bool replaces = false;
  bool exists = false;                    // is there already: the query reads it instead
  const StatementFacts* query = nullptr;  // of a group the first
  std::string group;                      // whose reads it answers; empty: those of `query` alone
  std::optional<Proposal::Queue> queue;   // what it takes the place of is one

  bool is_any() const { return target.data != nullptr; }
};

// How the table is used as a queue; nullopt: the review does not find that it is.
std::optional<Proposal::Queue> queue_of(const Review& review, const std::string& table);

// The data of the table that the finding is about; nullptr: it has none.
DataPtr base_of(const Finding& finding, const std::vector<DataPtr>& data);

// What a finding's tables have beside their data: the reads that lead from one to the next, or why the fix
// cannot be run.
struct Prepared {
  ChainPtr chain;
  std::string obstacle;
};

// What the finding suggests. Nothing is suggested when it is left empty: what is returned says why, and is
// empty when another finding suggests it.
std::string read_suggestion(const Review& review, const Finding& finding, const std::vector<DataPtr>& data,
                            const Prepared& prepared, Suggestion& out);

}  // namespace sibyl::advisor
