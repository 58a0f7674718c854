// Schema changes as the protocol reports them.
#pragma once

#include "protocol/response.h"
#include "schema/schema.h"

namespace sibyl::server {

// The enumerators of both types have the same values.
inline protocol::SchemaChange to_protocol(const schema::Change& change) {
  return {static_cast<protocol::SchemaChange::Kind>(change.kind),
          static_cast<protocol::SchemaChange::Target>(change.target), change.keyspace, change.name,
          change.argument_types};
}

}  // namespace sibyl::server
