// Compaction on an operator's request.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "engine/engine.h"
#include "schema/schema.h"

namespace sibyl::engine {

// `name` is "keyspace.table" (with its indexes), "keyspace" (with everything in it) or empty (the whole
// store). Blocks, possibly for long.
base::Status compact(Engine& engine, const std::string& name);
// The ranges of keys that compact() rewrites, in the order of its work.
base::Result<std::vector<std::pair<base::Bytes, base::Bytes>>> compaction_ranges(
    const schema::Snapshot& schema, const std::string& name);
// Ends running compactions and rejects new ones. Call it before the engine is closed.
void stop_compacting(Engine& engine);

}  // namespace sibyl::engine
