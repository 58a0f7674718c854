// The limits of one statement while a thread plans or runs it: memory (memory.h) and time.
//
// Both can be exceeded at any depth: in a comparison inside a sort, in an allocation inside a container. So
// they end the statement with an exception, the only one that may cross folders. run_statement() turns it
// into the statement's error. Code in between only has to release its resources in destructors.
#pragma once

#include <cstdint>
#include <exception>
#include <utility>

#include "base/contain.h"
#include "base/memory.h"
#include "base/result.h"

namespace sibyl::base {

// Decides whether a long-running statement should continue.
class Interrupt {
 public:
  virtual ~Interrupt() = default;
  // Returning an error ends the statement with that error. Called periodically by the thread that runs the
  // statement, and before a step that takes long; upcoming_nanos() then estimates its duration.
  virtual Status check() const = 0;
};

class StatementEnded : public std::exception {
 public:
  explicit StatementEnded(Error error) : error_(std::move(error)) {}
  const Error& error() const { return error_; }
  const char* what() const noexcept override { return error_.message().c_str(); }

 private:
  Error error_;
};

// Applies the limits to this thread until destroyed. A nested scope only replaces the interrupt, and only if
// it has one.
class StatementScope {
 public:
  explicit StatementScope(const Interrupt* interrupt);
  ~StatementScope();
  StatementScope(const StatementScope&) = delete;
  StatementScope& operator=(const StatementScope&) = delete;

 private:
  const Interrupt* outer_interrupt_;
  int64_t outer_work_;
  bool is_outermost_;
};

namespace statement {
struct ThreadState {
  const Interrupt* interrupt = nullptr;
  int64_t work_left = 0;  // the work until the next interrupt check
};
extern constinit thread_local ThreadState thread_state;
void ask_interrupt();
// The work that is about to begin, for Interrupt::check(). 0 if it is less than a millisecond.
inline int64_t upcoming_nanos() {
  return thread_state.work_left < 0 ? -thread_state.work_left : 0;
}
}  // namespace statement

// Adds estimated work in nanoseconds and checks the interrupt once per millisecond of it. Throws
// StatementEnded if the statement must end. Call it before each step whose cost depends on the values.
inline void count_work(int64_t nanos) {
  statement::ThreadState& state = statement::thread_state;
  if (state.interrupt == nullptr) return;
  state.work_left -= nanos;
  if (state.work_left < 0) [[unlikely]]
    statement::ask_interrupt();
}

// Checks the interrupt now.
inline void check_interrupt() {
  if (statement::thread_state.interrupt != nullptr) statement::ask_interrupt();
}

// Runs `body`, which returns a Result, within the limits.
template <typename Body>
auto run_statement(const Interrupt* interrupt, Body&& body) -> decltype(body()) {
  const StatementScope scope(interrupt);
  try {
    return body();
  } catch (const StatementEnded& ended) {
    return fail(ended.error());
  } catch (...) {
    return fail(error_of_exception());  // an exception of a library, or out of memory
  }
}

}  // namespace sibyl::base
