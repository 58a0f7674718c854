// Decodes a message into a plan and its values: everything up to running it.
#pragma once

#include <string>

#include "base/result.h"
#include "protocol/frame.h"
#include "server/in_flight_request.h"

namespace sibyl::server {

// Decodes the body of a QUERY, PREPARE, EXECUTE or BATCH, and finds or creates its plans. `keyspace` is the
// connection's. The request borrows from `body` afterwards. If the request's check() interrupts decoding,
// call decode_request() again on another thread. Thread-safe.
base::Status decode_request(InFlightRequest& request, protocol::BytesView body, protocol::Version version,
                            const std::string& keyspace);

// Returns true if a message may hold so much text that decode_request() would block a reactor for too long.
bool is_long(const InFlightRequest& request, protocol::BytesView body);
// Remembers for some seconds that the plan ran too long on a reactor. may_take_long() then returns true for
// it. Thread-safe.
void remember_slow_plan(const plan::Prepared& plan);
// Returns true if running the request might block a reactor for too long. REQUIRES: decode_request() has
// succeeded.
bool may_take_long(const InFlightRequest& request, size_t body_bytes);

// The name of the request in system_traces.sessions.
std::string request_name(protocol::Opcode opcode);

}  // namespace sibyl::server
