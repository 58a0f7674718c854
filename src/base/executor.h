// Runs tasks later. The executor is injected so that tests control the order and the time of everything.
#pragma once

#include <cstdint>
#include <functional>

namespace sibyl::base {

class Executor {
 public:
  using Task = std::move_only_function<void()>;

  virtual ~Executor() = default;
  // Microseconds since an arbitrary moment. Never goes backwards and is not a wall clock.
  virtual int64_t now_micros() const = 0;
  // Runs the task once, not before `micros` microseconds have passed, and never within this call.
  virtual void run_after(int64_t micros, Task task) = 0;
};

}  // namespace sibyl::base
