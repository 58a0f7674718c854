// Columns by the names in a statement.
#pragma once

#include <string>

#include "base/result.h"
#include "schema/schema.h"

namespace sibyl::plan {

// Returns "Undefined column name x in table k.t" if there is no such column.
base::Result<const schema::Column*> existing_column(const schema::Table& table, const std::string& name);

}  // namespace sibyl::plan
