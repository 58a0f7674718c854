// Lock timeouts of writes that read first, and the errors that they return.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <span>

#include "base/result.h"
#include "execute/write/batch.h"
#include "plan/prepared.h"

namespace sibyl::engine {

// The names and the defaults are those of Cassandra's settings.
struct LockTimeouts {
  std::chrono::milliseconds cas_contention{1'800};
  std::chrono::milliseconds counter_write{5'000};
  std::chrono::milliseconds write{2'000};
  std::chrono::milliseconds truncate{60'000};
};

// The kinds of writes that wait for locks.
enum class LockUser : uint8_t { conditional, counter, other, truncate };
LockUser lock_user(const plan::Prepared& plan);
LockUser lock_user(std::span<const execute::BatchItem> items);

std::chrono::milliseconds timeout_of(LockUser user, const LockTimeouts& timeouts);
// Returns Cassandra's error. `contentions`: the number of writes that were served during the wait.
base::Error lock_timeout_error(LockUser user, const LockTimeouts& timeouts, uint32_t contentions);

// Calls `run` with a completion that forwards to `done`. If `run` throws before the completion was called,
// `done` gets the error. For threads on which no caller would catch the exception.
void run_guarded(execute::Completion done, std::move_only_function<void(execute::Completion)> run);

}  // namespace sibyl::engine
