// For tests: builds a schema by running definitions, without an engine.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>

#include "cql/parser.h"
#include "engine/system_tables/system_tables.h"
#include "plan/definitions/definitions.h"
#include "schema/schema.h"

namespace sibyl::engine {

inline schema::SnapshotPtr system_snapshot() {
  auto snapshot = std::make_shared<schema::Snapshot>();
  snapshot->version = std::string(16, '\1');
  for (const schema::KeyspacePtr& keyspace : system_schema_keyspaces())
    snapshot->keyspaces.insert_or_assign(keyspace->name, keyspace);
  return snapshot;
}

inline schema::SnapshotPtr define(const schema::SnapshotPtr& before, std::string_view text) {
  auto statement = cql::parse_statement(text);
  if (!statement) {
    ADD_FAILURE() << text << ": " << statement.error().message();
    return before;
  }
  auto made = plan::define(**statement, before, {.now_micros = 1'000'000});
  if (!made) {
    ADD_FAILURE() << text << ": " << made.error().message();
    return before;
  }
  return made->schema;
}

}  // namespace sibyl::engine
