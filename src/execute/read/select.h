// Runs SELECT.
#pragma once

#include "execute/environment.h"
#include "execute/result_set.h"
#include "plan/prepared.h"

namespace sibyl::execute {

// Returns one page and, if there is more, a paging state that continues after it. The state stays valid
// across restarts.
base::Result<ResultSet> select(const plan::Prepared& prepared, const Request& request,
                               Environment& environment);

}  // namespace sibyl::execute
