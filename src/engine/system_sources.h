// What the system tables show beyond their own: settings that are shown, and tables that are filled when they
// are read.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "engine/builder.h"
#include "engine/engine.h"
#include "engine/statements.h"
#include "engine/system_tables.h"
#include "engine/usage.h"

namespace sibyl::engine {

// system_views.settings: what the engine knows itself, under what the options say.
std::map<std::string, std::string> shown_settings(const Options& options, const Node& node);

// Who is asked. All of it outlives the tables' last reading.
struct Sources {
  const Options& options;
  const Engine& engine;
  const storage::Store& store;
  Bytes host_id;
  const Statements& statements;
  const Usage& usage;
  const std::optional<Builder>& builder;  // set before the first reading
};

// The tables of system, system_distributed and system_views about the schema, statements, statistics and
// files.
void install_sources(SystemTables& tables, const Sources& sources);

}  // namespace sibyl::engine
