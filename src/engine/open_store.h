// The only place that names the engines a store may have.
#pragma once

#include <memory>

#include "base/result.h"
#include "engine/engine.h"
#include "storage/store.h"

namespace sibyl::engine {

// A clock before 1970 is refused: what is written would expire, or be purged, as soon as it is set.
base::Status check_clock(base::Clock& clock);
// The store for users' tables: in memory for ":memory:", else in that directory, made with its parents when
// missing.
base::Result<std::unique_ptr<storage::Store>> open_store(const Options& options, base::Clock& clock);
// The store for the rows of system tables.
std::unique_ptr<storage::Store> make_system_store(base::Clock& clock);

}  // namespace sibyl::engine
