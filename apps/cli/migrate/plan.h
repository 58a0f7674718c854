// The plan of a migration: the chosen keyspaces and the parts of their tables.
#pragma once

#include <vector>

#include "cli/migrate/migrate.h"
#include "cli/migrate/part.h"
#include "cli/migrate/report.h"

namespace sibyl::cli::migrate {

struct Plan {
  std::vector<SourceKeyspace> keyspaces;
  std::vector<Part> parts;
};

// Reads the source's schema, without the tables that were not chosen.
base::Result<std::vector<SourceKeyspace>> read_chosen(client::Connection& source,
                                                      const MigrateOptions& options);

// Returns the parts of all tables, with their statements and their estimated sizes. Tables without data of
// their own (compact ones) are left out.
base::Result<std::vector<Part>> plan_parts(client::Connection& source,
                                           const std::vector<SourceKeyspace>& keyspaces, Report& report);

}  // namespace sibyl::cli::migrate
