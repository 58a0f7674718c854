// The fields that the protocol adds to the error message of a failed request.
#pragma once

#include <string_view>

#include "protocol/error_message.h"
#include "server/in_flight_request.h"

namespace sibyl::server {

// Returns "SIMPLE", "BATCH_LOG", "UNLOGGED_BATCH", "COUNTER" or "CAS". A failed logged batch is BATCH_LOG:
// none of it has been or will be written. BATCH would mean that it may still be applied.
std::string_view write_type_of(const InFlightRequest& request);

// Fills in the fields of failures and timeouts that the store does not know: the requested consistency, the
// kind of write, and the failed node. `node_address` has 4 or 16 bytes. Other errors are left unchanged.
void describe_failure(const InFlightRequest& request, std::string_view node_address,
                      protocol::ErrorMessage& message);

}  // namespace sibyl::server
