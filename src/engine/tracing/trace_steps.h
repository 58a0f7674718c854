// Steps that the trace of a request records when it runs: the operation, and its outcome.
#pragma once

#include <string>

#include "execute/environment.h"
#include "execute/trace.h"
#include "plan/prepared.h"

namespace sibyl::engine {

std::string describe_run(const plan::Prepared& plan);

// Records `first` now, and the outcome before `done` is called. `committed` is the text for a successful
// write. The trace and `committed` must live until `done` has been called.
execute::Completion with_steps(std::string first, const char* committed, execute::Trace& trace,
                               execute::Completion done);

}  // namespace sibyl::engine
