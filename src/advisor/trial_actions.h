// Statements of a reviewed file as they are run: on the tables given, and on those that take their place.
// Internal to trials.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "advisor/trial_rewrite.h"
#include "advisor/trial_target.h"

namespace sibyl::advisor {

struct Suggestion;

// A statement with its scaled review.
struct Source {
  const StatementFacts* facts = nullptr;
  QueryReview review;
  DataPtr data;              // of the first table that it uses; a view's are its base's
  double range_share = 0.1;  // of all rows, between bounds
  double new_share = 1;      // of the rows that its table's INSERTs write, those that it did not have before
};

// A part of what a statement takes, for the row that it is about.
using Action = std::function<base::Status(TrialSession&, Random&, const TableData::Row&)>;
void set_actions(const Source& source, std::vector<Action> actions, Operation& operation);

inline Work reading(double partitions, double rows) {
  return {1, partitions, rows, 0, 0, 0};
}
// Its name, weight and prediction.
Operation operation_of(const Source& source);
// Why a statement is not run; empty: it is.
std::string obstacle(const Source& source);

Trial::Text plain_text(const Source& source);
RequestShape shape_of(const Source& source, const std::string& text);
Action run_as_it_is(const Source& source, const Trial::Text& statement, const TrialTable& target,
                    Trial& trial);
// A statement of a table whose partitions are split, or that has other columns.
Action run_split(const Source& source, const Suggestion& suggestion, const std::string& text,
                 Operation& operation, Trial& trial);

}  // namespace sibyl::advisor
