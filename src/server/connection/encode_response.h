// Encodes responses as frames. Each function appends one complete frame to `out`. They know neither sockets
// nor connections. Thread-safe, as long as `out` and the request are used by one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/bytes.h"
#include "base/result.h"
#include "protocol/compression.h"
#include "protocol/error_message.h"
#include "protocol/response.h"
#include "protocol/version.h"
#include "server/in_flight_request.h"

namespace sibyl::server {

// The options of the protocol that the client has negotiated.
struct ResponseFormat {
  protocol::Version version = protocol::newest_version;
  protocol::Compression compression = protocol::Compression::none;  // of bodies
};

// `trace` is the trace of the request, or nullptr.
void append_error(base::Bytes& out, const ResponseFormat& format, int16_t stream,
                  const protocol::ErrorMessage& error, const engine::RequestTrace* trace);
void append_ready(base::Bytes& out, const ResponseFormat& format, int16_t stream);
// `authenticator` is the name of Cassandra's class.
void append_authenticate(base::Bytes& out, const ResponseFormat& format, int16_t stream,
                         std::string_view authenticator);
void append_auth_success(base::Bytes& out, const ResponseFormat& format, int16_t stream);
void append_supported(base::Bytes& out, const ResponseFormat& format, int16_t stream);
void append_event(base::Bytes& out, const ResponseFormat& format, const protocol::Event& event);

// Returns an error if the rows do not fit in one message, or have more than `limit` bytes.
base::Status check_result_size(const execute::ResultSet& result, size_t limit);
// The result of a QUERY, EXECUTE or BATCH. REQUIRES: check_result_size() has succeeded.
void append_result(base::Bytes& out, const ResponseFormat& format, const InFlightRequest& request,
                   const execute::ResultSet& result);
// The response to a PREPARE that has succeeded.
void append_prepared(base::Bytes& out, const ResponseFormat& format, const InFlightRequest& request);

}  // namespace sibyl::server
