// Rewrites statements of a reviewed file for the tables that the review suggests. Internal to
// src/advisor/trial. REQUIRES, for every text: it has been parsed and planned before.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "advisor/trial/target.h"
#include "cql/ast.h"
#include "schema/schema.h"

namespace sibyl::advisor {

// The statement with `?` for every marker, so that markers are named after their columns.
std::string print_plain(const std::string& text);
// Returns for each marker of such a text whether it is a lower bound, an upper bound or neither. Empty if
// this is unknown.
std::vector<RequestShape::Bound> find_bounds(const std::string& text);
// A SELECT from another table that needs no filtering. `all`: selects all columns.
std::string print_from(const std::string& text, const std::string& table, bool all = false);
// An UPDATE or DELETE on another table.
std::string print_onto(const std::string& text, const std::string& table);
// A SELECT of the rows that follow a given row.
std::string print_after(const std::string& text, const std::string& column);

struct SplitStatement {
  std::string text;
  std::optional<double> limit;
};
// Adds a column to the partition key. It is compared with a marker or, if `modulo` is set, with every number
// below `modulo`; a LIMIT then applies to each partition.
SplitStatement print_split(const std::string& text, const std::string& column, double modulo);

// An INSERT with markers for the columns that the table adds. Other statements are unchanged.
std::string print_insert_of(const std::string& text, const TrialTable& target);

// SELECT * of one row, or of a partition.
std::string print_by_key(const schema::Table& table, bool partition = false);
// DELETE of one row from the table that `definition` creates.
std::string print_delete(const std::string& definition);

}  // namespace sibyl::advisor
