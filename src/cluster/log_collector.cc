#include "cluster/log_collector.h"

#include <vector>

namespace sibyl::cluster {

using storage::objects::Mutation;
using storage::objects::Reply;

// A former leader may remove the same log. That is harmless, because the log stays unneeded.
void LogCollector::follow(const State& state) {
  if (is_busy_ || state.leader != membership_.id()) return;
  const std::vector<MemberId> unneeded = state.unneeded_logs();
  if (unneeded.empty()) return;
  is_busy_ = true;
  remove_(unneeded.front(), [this, alive = alive_, log = unneeded.front()](const base::Status& status) {
    if (!*alive) return;
    if (status) return forget(log);
    is_busy_ = false;  // the next state causes another attempt
  });
}

// Called only after the log was removed, because a log without an entry in the state is never removed.
void LogCollector::forget(const MemberId& log) {
  Mutation mutation;
  mutation.if_entry(log_entry(log), log.encode()).erase_entry(log_entry(log)).allow_when_full();
  store_.mutate(state_object, std::move(mutation), [this, alive = alive_](Reply) {
    if (!*alive) return;
    is_busy_ = false;
    membership_.refresh();
  });
}

}  // namespace sibyl::cluster
