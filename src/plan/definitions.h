// Definitions (CREATE, ALTER, DROP of keyspaces, tables, types): a function from one schema to the next.
//
// Pure: the caller serialises definitions, stores the result and publishes it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cql/ast.h"
#include "plan/guardrails.h"
#include "schema/schema.h"

namespace sibyl::plan {

struct DefinitionContext {
  std::string keyspace;    // the session's
  int64_t now_micros = 0;  // for dropped columns
  const Guardrails* guardrails = &default_guardrails;
  bool masks_columns = false;              // dynamic_data_masking_enabled
  std::string datacenter = "datacenter1";  // that the server is in
};

struct DefinitionResult {
  schema::SnapshotPtr schema;           // the same pointer when nothing changed (IF NOT EXISTS and such)
  std::vector<schema::Change> changes;  // first the one that answers the client
  std::vector<uint32_t> dropped_storage_ids;  // tables whose records go
  std::vector<std::string> warnings;
};

base::Result<DefinitionResult> define(const cql::Statement& statement, const schema::SnapshotPtr& schema,
                                      const DefinitionContext& context);

// Cassandra's limits on names.
inline constexpr size_t max_name_length = 48;

}  // namespace sibyl::plan
