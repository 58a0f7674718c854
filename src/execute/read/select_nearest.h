// SELECT … ORDER BY v ANN OF x LIMIT n.
#pragma once

#include "execute/environment.h"
#include "plan/statements/select.h"

namespace sibyl::execute {

// Returns the rows with the most similar vectors, most similar first, in one page. The index's graph provides
// candidates, whose rows are read. If that cannot give enough rows (a partition is named, few rows pass the
// other restrictions, the index is not built yet), all rows that may match are compared, so that none is
// missing. REQUIRES: plan.nearest.
base::Result<ResultSet> select_nearest(const plan::Prepared& prepared, const plan::Select& plan,
                                       const Request& request, Environment& environment);

}  // namespace sibyl::execute
