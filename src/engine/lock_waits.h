// How long writes that read first wait for the writes ahead of them, and what they are answered then.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <span>

#include "base/result.h"
#include "execute/execute.h"
#include "plan/prepared.h"

namespace sibyl::engine {

// Cassandra's settings of these names, and its defaults.
struct LockTimeouts {
  std::chrono::milliseconds cas_contention{1'800};
  std::chrono::milliseconds counter_write{5'000};
  std::chrono::milliseconds write{2'000};
  std::chrono::milliseconds truncate{60'000};
};

// The kind of a write that has to wait for locks.
enum class LockUser : uint8_t { conditional, counter, other, truncate };
LockUser lock_user(const plan::Prepared& plan);
LockUser lock_user(std::span<const execute::BatchItem> items);

std::chrono::milliseconds timeout_of(LockUser user, const LockTimeouts& timeouts);
// Cassandra's error. `contentions`: how many others were served meanwhile.
base::Error lock_timeout_error(LockUser user, const LockTimeouts& timeouts, uint32_t contentions);

// Calls `run` with a completion that calls `done`; when `run` throws before it was called, `done` gets the
// error: for threads that have no caller who would.
void run_guarded(execute::Completion done, std::move_only_function<void(execute::Completion)> run);

}  // namespace sibyl::engine
