// `sibyl import KEYSPACE.TABLE --sstables DIR`: writes the contents of Cassandra's data files to a server.
#pragma once

#include "cli/copy/import.h"

namespace sibyl::cli::import_sstables {

// Returns the exit status of the process.
int run_import_sstables(const copy::ImportOptions& options);

}  // namespace sibyl::cli::import_sstables
