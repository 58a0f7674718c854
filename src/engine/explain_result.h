// EXPLAIN's answer as rows.
#pragma once

#include "base/result.h"
#include "execute/result_set.h"
#include "plan/prepared.h"

namespace sibyl::engine {

// One row a step, and one more for each warning.
execute::ResultSet explain_result(const plan::Explain& explain, const plan::Prepared& prepared);

}  // namespace sibyl::engine
