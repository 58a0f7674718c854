// Executes CQL on engines in this process.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "engine/engine.h"
#include "script/target.h"

namespace sibyl::script {

// Returns the engine for each attempt, counted from 0 over all pages. Another attempt follows if the engine
// does not have the shard of the statement.
using ChooseEngine = std::function<engine::Engine*(size_t attempt)>;

// Runs a statement with all of its pages. `keyspace`: in use; USE changes it.
Outcome run_on(const ChooseEngine& choose, const std::string& statement, const Mode& mode,
               std::string& keyspace);

}  // namespace sibyl::script
