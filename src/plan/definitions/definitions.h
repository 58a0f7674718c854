// Definitions (CREATE, ALTER and DROP of keyspaces, tables, types, indexes, views, functions and aggregates)
// as functions from one schema snapshot to the next.
//
// Pure functions: the caller runs one definition at a time, stores the result and publishes it.
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
  std::string datacenter = "datacenter1";  // the server's own
};

struct DefinitionResult {
  schema::SnapshotPtr schema;  // the same pointer if nothing changed (IF NOT EXISTS and the like)
  // The changes, for events; the client that sent the statement gets the first one.
  std::vector<schema::Change> changes;
  std::vector<uint32_t> dropped_storage_ids;  // tables whose records must be deleted
  std::vector<std::string> warnings;
};

base::Result<DefinitionResult> define(const cql::Statement& statement, const schema::SnapshotPtr& schema,
                                      const DefinitionContext& context);

// Cassandra's limits on names.
inline constexpr size_t max_name_length = 48;

}  // namespace sibyl::plan
