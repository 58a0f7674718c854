// The tables that a review suggests, as far as they can be filled and asked. Internal to trials.
#pragma once

#include <string>
#include <vector>

#include "advisor/review.h"
#include "advisor/trial_target.h"

namespace sibyl::advisor {

// A table that takes the place of one, or stands beside it for one query.
struct Suggestion {
  std::string text;  // its definition
  TrialTable target;
  double partitions = 1;  // that a read takes
  bool replaces = false;
  bool exists = false;  // is there already: the query reads it instead
  const StatementFacts* query = nullptr;

  bool is_any() const { return target.data != nullptr; }
};

// The data of the table that the finding is about; nullptr: it has none.
DataPtr base_of(const Finding& finding, const std::vector<DataPtr>& data);

// What the finding suggests. Nothing is suggested when it is left empty: what is returned says why, and is
// empty when the finding suggests no table.
std::string read_suggestion(const Review& review, const Finding& finding, const std::vector<DataPtr>& data,
                            Suggestion& out);

}  // namespace sibyl::advisor
