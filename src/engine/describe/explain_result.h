// Turns the output of EXPLAIN into rows.
#pragma once

#include "base/result.h"
#include "execute/result_set.h"
#include "plan/prepared.h"

namespace sibyl::engine {

// One row per step, followed by one row per warning.
execute::ResultSet explain_result(const plan::Explain& explain, const plan::Prepared& prepared);

}  // namespace sibyl::engine
