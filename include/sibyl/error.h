// The result of an operation that can fail: a value or an Error. The library does not throw on bad input, a
// full disk or a missing table. It throws only when memory is exhausted, and in Result::value().
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <expected>
#include <string>
#include <utility>

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
  // The statement could not be executed now, or only in part.
  unavailable = 0x1000,
  overloaded = 0x1001,
  bootstrapping = 0x1002,
  truncate = 0x1003,
  read_timeout = 0x1200,
  read_failure = 0x1300,
  write_timeout = 0x1100,
  write_failure = 0x1500,
  cdc_write_failure = 0x1600,
  cas_write_unknown = 0x1700,  // the write may or may not have been applied
  // A fault of the database, or of a client.
  server = 0x0000,
  protocol = 0x000A,
};

struct Error {
  ErrorCode code = ErrorCode::server;
  std::string message;  // Cassandra's text
  std::string hint;     // advice on what to do instead; may be empty
  // Position in the statement: line from 1, column from 0. Line 0: unknown.
  uint32_t line = 0;
  uint32_t column = 0;

  // The message, followed by the hint if there is one.
  std::string text() const { return hint.empty() ? message : message + " [hint: " + hint + "]"; }
};

namespace internal {
[[noreturn]] inline void end_misuse(const Error& error) {
  std::fprintf(stderr, "sibyl: the result of a failed call was used: %s\n", error.text().c_str());
  std::abort();
}
}  // namespace internal

// Thrown by Result::value().
class BadResult : public std::bad_expected_access<Error> {
 public:
  explicit BadResult(Error error)
      : std::bad_expected_access<Error>(std::move(error)),
        text_("a call of Sibyl failed: " + this->error().text()) {}
  const char* what() const noexcept override { return text_.c_str(); }

 private:
  std::string text_;
};

// A value or an Error. `*result` and `result->` of a failed call end the program with a message that names
// the error, and value() throws BadResult. Check `if (!result)` first.
template <typename T>
class [[nodiscard]] Result : public std::expected<T, Error> {
  using Base = std::expected<T, Error>;

 public:
  using Base::Base;

  T& operator*() & { return checked().Base::operator*(); }
  const T& operator*() const& { return checked().Base::operator*(); }
  T&& operator*() && { return std::move(checked().Base::operator*()); }
  T* operator->() { return &checked().Base::operator*(); }
  const T* operator->() const { return &checked().Base::operator*(); }
  T& value() & { return *or_throw(); }
  const T& value() const& { return *or_throw(); }
  T&& value() && { return std::move(*or_throw()); }

 private:
  Result& checked() {
    if (!this->has_value()) internal::end_misuse(this->error());
    return *this;
  }
  const Result& checked() const { return const_cast<Result*>(this)->checked(); }
  Result& or_throw() {
    if (!this->has_value()) throw BadResult(this->error());
    return *this;
  }
  const Result& or_throw() const { return const_cast<Result*>(this)->or_throw(); }
};

template <>
class [[nodiscard]] Result<void> : public std::expected<void, Error> {
 public:
  using std::expected<void, Error>::expected;

  void operator*() const {
    if (!has_value()) internal::end_misuse(error());
  }
  void value() const {
    if (!has_value()) throw BadResult(error());
  }
};
using Status = Result<void>;

}  // namespace sibyl
