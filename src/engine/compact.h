// Compaction of what an operator names.
#pragma once

#include <string>

#include "base/result.h"
#include "engine/engine.h"

namespace sibyl::engine {

// "keyspace.table", with its indexes; "keyspace", with everything in it; empty: the whole store. Takes long.
base::Status compact(Engine& engine, const std::string& name);
// Ends those that run, and refuses others from now on: before the engine is closed.
void stop_compacting(Engine& engine);

}  // namespace sibyl::engine
