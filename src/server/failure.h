// What clients are told of a request that failed beside the error's text: the protocol's numbers.
#pragma once

#include <string_view>

#include "protocol/error_message.h"
#include "server/call.h"

namespace sibyl::server {

// "SIMPLE", "BATCH_LOG", "UNLOGGED_BATCH", "COUNTER" or "CAS". A logged batch that failed is BATCH_LOG:
// nothing of it is written nor ever will be, which BATCH would tell otherwise.
std::string_view write_type_of(const Call& call);

// Fills in what the store that failed cannot know: the consistency that was asked for, the kind of write, and
// the one node that failed, whose address (4 or 16 bytes) is given. Other errors stay as they are.
void describe_failure(const Call& call, std::string_view node_address, protocol::ErrorMessage& message);

}  // namespace sibyl::server
