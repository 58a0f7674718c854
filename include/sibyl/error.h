// The result of an operation that can fail: a value or an Error. The library does not throw on bad input, a
// full disk or a missing table. It throws only when memory is exhausted.
#pragma once

#include <cstdint>
#include <expected>
#include <string>

namespace sibyl {

// The codes of Cassandra's native protocol. Code that handles errors should expect other values.
enum class ErrorCode : int32_t {
  // The statement is wrong, or may not be executed.
  syntax = 0x2000,
  invalid = 0x2200,
  config = 0x2300,
  already_exists = 0x2400,
  unprepared = 0x2500,
  unauthorized = 0x2100,
  bad_credentials = 0x0100,
  function_failure = 0x1400,  // a user-defined function failed
  // It could not be executed now, or only in part.
  unavailable = 0x1000,
  overloaded = 0x1001,
  bootstrapping = 0x1002,
  truncate = 0x1003,
  read_timeout = 0x1200,
  read_failure = 0x1300,
  write_timeout = 0x1100,
  write_failure = 0x1500,
  cdc_write_failure = 0x1600,
  cas_write_unknown = 0x1700,  // whether the write was applied is unknown
  // A fault of the database, or of a client.
  server = 0x0000,
  protocol = 0x000A,
};

struct Error {
  ErrorCode code = ErrorCode::server;
  std::string message;  // Cassandra's text
  std::string hint;     // what to do instead; may be empty
  // Position in the statement: line from 1, column from 0. Line 0: unknown.
  uint32_t line = 0;
  uint32_t column = 0;

  // The message, followed by the hint if there is one.
  std::string text() const { return hint.empty() ? message : message + " [hint: " + hint + "]"; }
};

template <typename T>
using Result = std::expected<T, Error>;
using Status = Result<void>;

}  // namespace sibyl
