// Relations that indexes serve. Internal to src/plan.
#pragma once

#include <vector>

#include "plan/restrictions/bound.h"
#include "schema/index.h"

namespace sibyl::plan {

bool supports(const schema::Index& index, const schema::Column& column, cql::Operator op);
bool serves(const schema::Index& index, const Restriction& restriction, const schema::Column& column);
// True if one of the table's indexes serves the restriction.
bool has_index(const schema::Table& table, const Restriction& restriction);
// True if one index, or the table's SAI indexes together, serve all of the restrictions.
bool are_served(const schema::Table& table, const std::vector<RestrictionPtr>& restrictions);
// True if a SASI index also finds text inside a value.
bool finds_inside(const schema::Index& index);

}  // namespace sibyl::plan
