// Polls an interrupt at intervals. Internal to src/execute.
#pragma once

#include "execute/environment.h"

namespace sibyl::execute {

// Polls an interrupt, which may be nullptr, once every 64 steps.
class InterruptCheck {
 public:
  explicit InterruptCheck(const Interrupt* interrupt) : interrupt_(interrupt) {}
  base::Status step() {
    constexpr uint32_t steps = 64;
    if (interrupt_ == nullptr || ++count_ % steps != 0) return {};
    return interrupt_->check();
  }

 private:
  const Interrupt* interrupt_;
  uint32_t count_ = 0;
};

}  // namespace sibyl::execute
