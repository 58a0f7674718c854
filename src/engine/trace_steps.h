// What the trace of a request tells of its run: what is about to be done, and how it ended.
#pragma once

#include <string>

#include "execute/execute.h"
#include "execute/trace.h"
#include "plan/prepared.h"

namespace sibyl::engine {

std::string describe_run(const plan::Prepared& plan);

// Tells `first` now, and at the end how it ended, before `done` is called. `committed`, which must stay, is
// what is said of a write. The trace must live until then.
execute::Completion with_steps(std::string first, const char* committed, execute::Trace& trace,
                               execute::Completion done);

}  // namespace sibyl::engine
