// The return value of operations that can fail: a value or an Error.
//
// Codes are those of Cassandra's native protocol, so an error reaches the client without translation. An
// Error is a small shared handle: it is cheap to copy and a Result<T> stays small. Exceptions do not cross
// folders.
#pragma once

#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace sibyl::base {

enum class ErrorCode : int32_t {
  server = 0x0000,
  protocol = 0x000A,
  bad_credentials = 0x0100,
  unavailable = 0x1000,
  overloaded = 0x1001,
  bootstrapping = 0x1002,
  truncate = 0x1003,
  write_timeout = 0x1100,
  read_timeout = 0x1200,
  read_failure = 0x1300,
  function_failure = 0x1400,
  write_failure = 0x1500,
  cdc_write_failure = 0x1600,
  cas_write_unknown = 0x1700,
  syntax = 0x2000,
  unauthorized = 0x2100,
  invalid = 0x2200,
  config = 0x2300,
  already_exists = 0x2400,
  unprepared = 0x2500,
};

// A position in a statement's text: line from 1, column from 0, as in Cassandra; offset in bytes.
struct Position {
  uint32_t line = 1;
  uint32_t column = 0;
  uint32_t offset = 0;
};

struct ErrorDetails {
  ErrorCode code = ErrorCode::server;
  std::string message;               // Cassandra's exact text: clients match on it
  std::string hint;                  // our advice; may be empty
  std::optional<Position> position;  // position in the statement, if known
  std::string keyspace, table;       // already_exists: the existing object; `table` is empty for a keyspace
  std::string statement_id;          // unprepared: the id the client sent
  std::string function;  // function_failure: its name; `keyspace` and `argument_types` complete its signature
  std::vector<std::string> argument_types;
  // For unavailable, timeouts and failures: the requested consistency (the protocol's number), and how many
  // responses were required, were received (or could have been), and were failures.
  uint16_t consistency = 1;
  int32_t required = 1, received = 0, failures = 0;
  uint16_t failure_reason = 0;  // the protocol's number, for all failures
  bool data_present = false;
};

class [[nodiscard]] Error {
 public:
  Error(ErrorCode code, std::string message) {
    details_ = std::make_shared<ErrorDetails>();
    details_->code = code;
    details_->message = std::move(message);
  }
  explicit Error(ErrorDetails details) : details_(std::make_shared<ErrorDetails>(std::move(details))) {}

  ErrorCode code() const { return details_->code; }
  const std::string& message() const { return details_->message; }
  const std::string& hint() const { return details_->hint; }
  const std::optional<Position>& position() const { return details_->position; }
  const ErrorDetails& details() const { return *details_; }

  // The text a client sees: Cassandra's message, then the hint.
  std::string text() const { return hint().empty() ? message() : message() + " [hint: " + hint() + "]"; }

  // Both return a changed copy; `this` is unchanged.
  Error with_hint(std::string hint) const {
    ErrorDetails copy = *details_;
    copy.hint = std::move(hint);
    return Error(std::move(copy));
  }
  Error at(Position position) const {
    ErrorDetails copy = *details_;
    copy.position = position;
    return Error(std::move(copy));
  }

 private:
  std::shared_ptr<ErrorDetails> details_;
};

template <typename T>
using Result = std::expected<T, Error>;
using Status = Result<void>;

inline std::unexpected<Error> fail(ErrorCode code, std::string message) {
  return std::unexpected<Error>(Error(code, std::move(message)));
}
inline std::unexpected<Error> fail(Error error) {
  return std::unexpected<Error>(std::move(error));
}
// An error with the most common code, 0x2200.
inline std::unexpected<Error> invalid(std::string message) {
  return fail(ErrorCode::invalid, std::move(message));
}

}  // namespace sibyl::base

// Return early on failure. SIBYL_ASSIGN declares or assigns `lhs` from a Result.
#define SIBYL_CONCAT_INNER(a, b) a##b
#define SIBYL_CONCAT(a, b) SIBYL_CONCAT_INNER(a, b)
#define SIBYL_TRY(expression)                                                        \
  do {                                                                               \
    if (auto sibyl_status = (expression); !sibyl_status)                             \
      return std::unexpected<::sibyl::base::Error>(std::move(sibyl_status.error())); \
  } while (false)
#define SIBYL_ASSIGN(lhs, expression) \
  SIBYL_ASSIGN_INNER(SIBYL_CONCAT(sibyl_result_, __LINE__), lhs, expression)
#define SIBYL_ASSIGN_INNER(result, lhs, expression)                                     \
  auto result = (expression);                                                           \
  if (!result) return std::unexpected<::sibyl::base::Error>(std::move(result.error())); \
  lhs = std::move(*result)
