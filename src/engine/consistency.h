// What a request may ask for beyond its statement: consistency levels and page sizes.
#pragma once

#include <span>

#include "base/result.h"
#include "engine/engine.h"

namespace sibyl::engine {

// Refuses levels that need more replicas than the keyspace has (0x1000, Unavailable) and what guardrails
// forbid; what they only warn of goes to `warnings`. A keyspace with a replication factor above one is served
// by the one copy at any level its factor could satisfy, so that an application written for a cluster runs on
// one node. Reads the schema only for TWO and THREE.
base::Status check_request(const plan::Prepared& plan, const execute::Request& request, const Engine& engine,
                           const plan::Guardrails& guardrails, std::vector<std::string>& warnings);
// The same for a protocol BATCH.
base::Status check_request(std::span<const execute::BatchItem> items, const execute::Request& request,
                           const Engine& engine, const plan::Guardrails& guardrails,
                           std::vector<std::string>& warnings);

}  // namespace sibyl::engine
