// Runs the statements of a reviewed file, on the given tables and on the tables that replace them. Internal
// to src/advisor/trial.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "advisor/trial/rewrite.h"
#include "advisor/trial/target.h"

namespace sibyl::advisor {

struct Suggestion;

// A statement of the file, and its review with the numbers of the trial.
struct Source {
  const StatementFacts* facts = nullptr;
  QueryReview review;
  DataPtr data;              // data of the first table that the statement uses; for a view, of its base table
  double range_share = 0.1;  // share of all rows that a range selects
  double new_share = 1;      // share of new rows among the rows that INSERTs write
};

// One part of a statement's execution. Each execution is about one row.
using Action = std::function<base::Status(TrialSession&, Random&, const TableData::Row&)>;
void set_actions(const Source& source, std::vector<Action> actions, Operation& operation);

inline Work reading(double partitions, double rows) {
  return {1, partitions, rows, 0, 0, 0};
}
// Returns an operation with the statement's name, weight and prediction, but without actions.
Operation operation_of(const Source& source);
// The reason why a statement is not run; empty if it is run.
std::string obstacle(const Source& source);

Trial::Text plain_text(const Source& source);
RequestShape shape_of(const Source& source, const std::string& text);
Action run_unchanged(const Source& source, const Trial::Text& statement, const TrialTable& target,
                     Trial& trial);
// For a statement on a table whose partitions are split, or that has other columns.
Action run_split(const Source& source, const Suggestion& suggestion, const std::string& text,
                 Operation& operation, Trial& trial);

}  // namespace sibyl::advisor
