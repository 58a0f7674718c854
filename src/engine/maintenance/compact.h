// Compaction on an operator's request.
#pragma once

#include <string>

#include "base/result.h"
#include "engine/engine.h"

namespace sibyl::engine {

// `name` is "keyspace.table" (with its indexes), "keyspace" (with everything in it) or empty (the whole
// store). Blocks, possibly for long.
base::Status compact(Engine& engine, const std::string& name);
// Ends running compactions and rejects new ones. Call it before the engine is closed.
void stop_compacting(Engine& engine);

}  // namespace sibyl::engine
