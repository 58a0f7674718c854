#include "engine/prepared/statement_history.h"

namespace sibyl::engine {

std::shared_ptr<plan::Redefinition> StatementHistory::record(std::string_view id,
                                                             const plan::Prepared& plan) {
  base::Bytes markers_id = plan::metadata_id({plan.markers});
  const base::MutexLock lock(mutex_);
  const auto [entry, is_new] = sent_.try_emplace(std::string(id));
  Sent& sent = entry->second;
  if (is_new) {
    order_.emplace_back(id);
  } else if (sent.markers_id != markers_id || sent.result_id != plan.result_id) {
    sent.redefinition = std::make_shared<plan::Redefinition>();
  }
  sent.markers_id = std::move(markers_id);
  sent.result_id = plan.result_id;
  std::shared_ptr<plan::Redefinition> redefinition = sent.redefinition;
  if (sent_.size() > max_statements) {
    sent_.erase(order_.front());
    order_.pop_front();
  }
  return redefinition;
}

}  // namespace sibyl::engine
