// From a message to a plan and its values: everything up to running it.
#pragma once

#include <string>

#include "base/result.h"
#include "protocol/frame.h"
#include "server/call.h"

namespace sibyl::server {

// Reads the body of a QUERY, PREPARE, EXECUTE or BATCH, and finds or makes its plans. `keyspace`: the
// connection's. What the call refers to afterwards lies in `body`. Any thread. The call is the interrupt:
// when it ends this, begin() may be called again, on another thread.
base::Status begin(Call& call, protocol::BytesView body, protocol::Version version,
                   const std::string& keyspace);

// Whether a message may hold so much text that begin() would hold up a reactor.
bool is_long(const Call& call, protocol::BytesView body);
// Whether a statement works on numbers of any length. Any thread.
bool computes(const plan::Prepared& plan);
// A reactor gives it away: the next time it is not started there. Any thread.
void remember_long(const plan::Prepared& plan);
// Whether running it would. REQUIRES: begin() has succeeded.
bool may_take_long(const Call& call, size_t body_bytes);

// As system_traces.sessions names it.
std::string request_name(protocol::Opcode opcode);

}  // namespace sibyl::server
