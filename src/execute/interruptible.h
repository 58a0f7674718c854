// Runs statements within their limits of memory and time (base/statement.h).
#pragma once

#include <utility>

#include "base/statement.h"
#include "execute/environment.h"

namespace sibyl::execute {

// A request's interrupt, where base asks for one.
class AskedByBase final : public base::Interrupt {
 public:
  explicit AskedByBase(const execute::Interrupt* interrupt) : interrupt_(interrupt) {}
  base::Status check() const override { return interrupt_->check(); }

 private:
  const execute::Interrupt* interrupt_;
};

// Runs `body`, which returns a Result. `interrupt` may be nullptr.
template <typename Body>
auto run_interruptible(const Interrupt* interrupt, Body&& body) {
  const AskedByBase asked(interrupt);
  return base::run_statement(interrupt != nullptr ? &asked : nullptr, std::forward<Body>(body));
}

}  // namespace sibyl::execute
