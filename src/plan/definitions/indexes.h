// CREATE INDEX and DROP INDEX, and what other definitions need to know about indexes.
#pragma once

#include <string>

#include "schema/schema.h"

namespace sibyl::plan {

// The names of the indexes on a column, joined by commas. The column cannot be dropped or renamed while it
// has any.
std::string dependent_indexes(const schema::Table& table, const schema::Column& column);

}  // namespace sibyl::plan
