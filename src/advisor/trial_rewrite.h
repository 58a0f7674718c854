// Statements of a reviewed file, written anew for the tables that the review suggests. Internal to trials.
// REQUIRES of every text: it has been parsed and planned before.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "advisor/trial_target.h"
#include "cql/ast.h"
#include "schema/schema.h"

namespace sibyl::advisor {

// The same with `?` for every marker, so that markers are named by their columns.
std::string print_plain(const std::string& text);
// Of each marker of such a text whether a row's column is to be above or below it, or neither. Empty: not
// known.
std::vector<RequestShape::Bound> find_bounds(const std::string& text);
// A SELECT of another table, which needs no filtering. `all`: of its columns.
std::string print_from(const std::string& text, const std::string& table, bool all = false);
// An UPDATE or DELETE of another table.
std::string print_onto(const std::string& text, const std::string& table);
// A SELECT of the rows behind one.
std::string print_after(const std::string& text, const std::string& column);

struct SplitStatement {
  std::string text;
  std::optional<double> limit;
};
// With one more column in the partition key: compared with a marker, or, with a modulo, with every number
// below it; a LIMIT then holds for each partition.
SplitStatement print_split(const std::string& text, const std::string& column, double modulo);

// An INSERT with markers for the columns that the table adds; other statements as they are.
std::string print_insert_of(const std::string& text, const TrialTable& target);

// SELECT * of one row, or of a partition.
std::string print_by_key(const schema::Table& table, bool partition = false);
// DELETE of one row from the table that the definition makes.
std::string print_delete(const std::string& definition);

}  // namespace sibyl::advisor
