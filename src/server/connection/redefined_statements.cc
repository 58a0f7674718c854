#include "server/connection/redefined_statements.h"

namespace sibyl::server {

const RedefinedStatements::Known& RedefinedStatements::known(const plan::Prepared& plan, uint64_t prepares) {
  if (known_.size() >= max_known && !known_.contains(plan.redefinition.get())) known_.clear();
  return known_.try_emplace(plan.redefinition.get(), Known{plan.redefinition, prepares}).first->second;
}

void RedefinedStatements::prepared(const plan::Prepared& plan) {
  if (!plan.redefinition) return;
  const base::MutexLock lock(mutex_);
  known(plan, 0);
}

bool RedefinedStatements::admits(const plan::Prepared& plan) {
  if (!plan.redefinition) return true;
  const uint64_t prepares = plan.redefinition->prepares.load(std::memory_order_relaxed);
  const base::MutexLock lock(mutex_);
  return prepares > known(plan, prepares).prepares;
}

}  // namespace sibyl::server
