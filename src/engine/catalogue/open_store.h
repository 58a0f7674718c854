// Chooses and opens the store. No other file of the engine names a storage engine.
#pragma once

#include <memory>

#include "base/result.h"
#include "engine/options.h"
#include "storage/rocksdb/rocksdb_store.h"
#include "storage/store.h"

namespace sibyl::engine {

// Fails if the clock is before 1970. Data written then would expire or be purged as soon as the clock is set.
base::Status check_clock(base::Clock& clock);
// Opens the store for users' tables: in memory for ":memory:", on shared storage if the options name one,
// else in that directory. A missing directory is created together with its parents.
base::Result<std::unique_ptr<storage::Store>> open_store(const Options& options, base::Clock& clock);
// The settings of the store for users' tables on disk or on shared storage. Borrows the clock.
storage::rocksdb::Options store_options(const Options& options, base::Clock& clock);
// Creates the store in memory that holds the rows of system tables.
std::unique_ptr<storage::Store> make_system_store(base::Clock& clock);

}  // namespace sibyl::engine
