// Connects the system tables to their data: the settings that are shown, and the tables that are filled when
// they are read.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>

#include "engine/builds/builder.h"
#include "engine/options.h"
#include "engine/prepared/statements.h"
#include "engine/schema_source.h"
#include "engine/statistics/usage_totals.h"
#include "engine/system_tables/system_tables.h"

namespace sibyl::engine {

// Rows of system_views.settings: the engine's own settings, overridden by options.settings.
std::map<std::string, std::string> shown_settings(const Options& options, const Node& node);

// The objects whose contents the tables show. They must outlive the last read of the tables.
struct Sources {
  const Options& options;
  const SchemaSource& schema_source;
  const storage::Store& store;
  Bytes host_id;
  const Statements& statements;
  std::function<UsageTotals()> usage;     // usage of all servers of a cluster
  const std::optional<Builder>& builder;  // set before the first read
};

// Installs the tables of system, system_distributed and system_views about the schema, statements, statistics
// and files.
void install_sources(SystemTables& tables, const Sources& sources);

}  // namespace sibyl::engine
