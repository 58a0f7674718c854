// Checks the options of a request apart from its statement: consistency levels and page sizes.
#pragma once

#include <span>

#include "base/result.h"
#include "engine/schema_source.h"
#include "execute/write/batch.h"
#include "plan/guardrails.h"
#include "plan/prepared.h"

namespace sibyl::engine {

// Fails with Unavailable (0x1000) if the level needs more replicas than the keyspace has, and if a guardrail
// forbids the request. Guardrails that only warn add to `warnings`. A keyspace with a replication factor
// above one is served by the single copy at every level that its factor could satisfy, so that an application
// written for a cluster runs on one node. Reads the schema only for TWO and THREE.
base::Status check_request(const plan::Prepared& plan, const execute::Request& request,
                           const SchemaSource& schema_source, const plan::Guardrails& guardrails,
                           std::vector<std::string>& warnings);
// Like check_request() above, for a protocol BATCH.
base::Status check_request(std::span<const execute::BatchItem> items, const execute::Request& request,
                           const SchemaSource& schema_source, const plan::Guardrails& guardrails,
                           std::vector<std::string>& warnings);

}  // namespace sibyl::engine
