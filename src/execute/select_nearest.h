// SELECT … ORDER BY v ANN OF x LIMIT n.
#pragma once

#include "execute/environment.h"
#include "plan/select.h"

namespace sibyl::execute {

// The rows whose vectors are most alike, the most alike first, all in one page. The index's graph names
// candidates and their rows are looked at; where that cannot give enough rows (a partition is named, few rows
// pass the other restrictions, the index is not built yet) all rows that may match are compared, so that
// nothing is missing. REQUIRES: plan.nearest.
base::Result<ResultSet> select_nearest(const plan::Prepared& prepared, const plan::Select& plan,
                                       const Request& request, Environment& environment);

}  // namespace sibyl::execute
