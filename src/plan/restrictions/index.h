// Relations that indexes serve. Internal to src/plan/restrictions.
#pragma once

#include <vector>

#include "plan/restrictions/bound.h"

namespace sibyl::plan {

bool supports(const schema::Index& index, const schema::Column& column, cql::Operator op);
bool serves(const schema::Index& index, const Restriction& restriction, const schema::Column& column);
// True if one of the table's indexes serves the restriction.
bool has_index(const schema::Table& table, const Restriction& restriction);
// True if one index, or the table's SAI indexes together, serve all of the restrictions.
bool are_served(const schema::Table& table, const std::vector<RestrictionPtr>& restrictions);
// The text analysis of the index that serves a filter.
schema::TextAnalysis analysis_for(const schema::Table& table, const Filter& filter);
// Sets LIKE's value and place, or returns Cassandra's error.
base::Status bind_like(const schema::Table& table, const Restriction& restriction, const ValueView& value,
                       Filter& filter);

}  // namespace sibyl::plan
