#include "engine/lock_waits.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <memory>

#include "base/contain.h"
#include "execute/write/batch.h"
#include "plan/statements/modify.h"

namespace sibyl::engine {
namespace {

LockUser user_of(const plan::Modification& statement) {
  if (statement.conditions) return LockUser::conditional;
  return statement.is_counter ? LockUser::counter : LockUser::other;
}

// Returns the kind of a batch, which has either conditions, or only counters, or neither.
template <typename Statements>
LockUser user_of_all(const Statements& statements) {
  LockUser user = LockUser::other;
  for (const auto& statement : statements) user = std::min(user, user_of(*statement));
  return user;
}

const char* setting_of(LockUser user) {
  switch (user) {
    case LockUser::conditional:
      return "cas_contention_timeout";
    case LockUser::counter:
      return "counter_write_request_timeout";
    case LockUser::other:
      return "write_request_timeout";
    case LockUser::truncate:
      return "truncate_request_timeout";
  }
  return "";
}

}  // namespace

LockUser lock_user(const plan::Prepared& plan) {
  if (std::holds_alternative<plan::Truncate>(plan.plan)) return LockUser::truncate;
  if (const auto* one = std::get_if<std::shared_ptr<const plan::Modification>>(&plan.plan))
    return user_of(**one);
  const auto* batch = std::get_if<std::shared_ptr<const plan::Batch>>(&plan.plan);
  return batch == nullptr ? LockUser::other : user_of_all((*batch)->statements);
}

LockUser lock_user(std::span<const execute::BatchItem> items) {
  LockUser user = LockUser::other;
  for (const execute::BatchItem& item : items) user = std::min(user, lock_user(*item.statement));
  return user;
}

std::chrono::milliseconds timeout_of(LockUser user, const LockTimeouts& timeouts) {
  switch (user) {
    case LockUser::conditional:
      return timeouts.cas_contention;
    case LockUser::counter:
      return timeouts.counter_write;
    case LockUser::other:
      return timeouts.write;
    case LockUser::truncate:
      return timeouts.truncate;
  }
  return timeouts.write;
}

base::Error lock_timeout_error(LockUser user, const LockTimeouts& timeouts, uint32_t contentions) {
  const std::string hint = fmt::format(
      "other writes to the partition held its lock for longer than {} ({} ms); send fewer writes to it at "
      "once, or spread them over more partitions",
      setting_of(user), timeout_of(user, timeouts).count());
  if (user == LockUser::truncate)
    return base::Error(base::ErrorCode::truncate, "Truncate timed out - received only 0 responses")
        .with_hint(hint);
  if (user != LockUser::conditional)
    return base::Error(base::ErrorCode::write_timeout, "Operation timed out - received only 0 responses.")
        .with_hint(hint);
  return base::Error(base::ErrorCode::write_timeout,
                     fmt::format("CAS operation timed out: received 0 of 1 required responses after {} "
                                 "contention retries",
                                 contentions))
      .with_hint(hint);
}

void run_guarded(execute::Completion done, std::move_only_function<void(execute::Completion)> run) {
  struct Once {
    execute::Completion done;
    std::atomic_flag is_called;
    void call(base::Result<execute::ResultSet> result) {
      if (!is_called.test_and_set()) done(std::move(result));
    }
  };
  const auto once = std::make_shared<Once>(std::move(done));
  const base::Status status = base::contain(
      [&] { run([once](base::Result<execute::ResultSet> result) { once->call(std::move(result)); }); });
  if (!status) once->call(base::fail(status.error()));
}

}  // namespace sibyl::engine
