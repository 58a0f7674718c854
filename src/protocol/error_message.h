// ERROR messages: a code, a text, and further fields for some codes.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "protocol/version.h"
#include "protocol/wire.h"

namespace sibyl::protocol {

// Which fields are sent depends on the code.
struct ErrorMessage {
  base::ErrorCode code = base::ErrorCode::server;
  std::string message;
  Consistency consistency = Consistency::one;  // unavailable, timeouts, failures, cas_write_unknown
  // For timeouts and failures; for unavailable, the number of live replicas.
  int32_t received = 0;
  int32_t required = 1;                                     // timeouts, failures, unavailable
  int32_t failures = 0;                                     // for failures, up to v4
  std::vector<std::pair<Bytes, uint16_t>> failure_reasons;  // failures, from v5: address and reason
  std::string write_type = "SIMPLE";                        // write_timeout, write_failure
  bool data_present = false;                                // read_timeout, read_failure
  uint16_t contentions = 0;                                 // write_timeout of type CAS, from v5
  std::string keyspace, name;               // already_exists (name empty for a keyspace), function_failure
  std::vector<std::string> argument_types;  // function_failure
  Bytes statement_id;                       // unprepared
};

ErrorMessage to_message(const base::Error& error);
// Appends " [position: LINE:COLUMN]" to the text if the error has a position that the text does not begin
// with. For clients that have asked for it with ERROR_POSITIONS in STARTUP.
void append_position(ErrorMessage& message, const base::Error& error);
base::Error to_error(const ErrorMessage& message);

// Appends the body. A code that the version does not have is sent as the nearest one that it has, as
// Cassandra does.
void append_error(Bytes& out, Version version, const ErrorMessage& message);
base::Result<ErrorMessage> decode_error(BytesView body, Version version);

}  // namespace sibyl::protocol
