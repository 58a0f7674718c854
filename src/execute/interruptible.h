// Runs statements within their limits of memory and time (base/statement.h).
#pragma once

#include <utility>

#include "base/statement.h"
#include "execute/environment.h"

namespace sibyl::execute {

// Adapts a request's interrupt to base::Interrupt.
class InterruptAdapter final : public base::Interrupt {
 public:
  explicit InterruptAdapter(const execute::Interrupt* interrupt) : interrupt_(interrupt) {}
  base::Status check() const override { return interrupt_->check(); }

 private:
  const execute::Interrupt* interrupt_;
};

// Runs `body`, which returns a Result. `interrupt` may be nullptr.
template <typename Body>
auto run_interruptible(const Interrupt* interrupt, Body&& body) {
  const InterruptAdapter adapter(interrupt);
  return base::run_statement(interrupt != nullptr ? &adapter : nullptr, std::forward<Body>(body));
}

}  // namespace sibyl::execute
