// The parts of an engine that a server uses.
#pragma once

#include "base/clock.h"
#include "engine/authenticator.h"
#include "engine/executor.h"
#include "engine/measurements.h"
#include "engine/planner.h"
#include "engine/schema_source.h"
#include "engine/server_tables.h"
#include "engine/tracing/trace_sink.h"

namespace sibyl::engine {

// Borrows every part from its engine.
struct Services {
  Planner& planner;
  Executor& executor;
  Authenticator& authenticator;
  SchemaSource& schema_source;
  ServerTables& server_tables;
  Measurements& measurements;
  TraceSink& traces;
  base::Clock& clock;
};

}  // namespace sibyl::engine
