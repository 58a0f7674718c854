#include "engine/statement_history.h"

namespace sibyl::engine {

std::shared_ptr<plan::Redefinition> StatementHistory::record(std::string_view id,
                                                             const plan::Prepared& plan) {
  base::Bytes markers_id = plan::metadata_id({plan.markers});
  const std::lock_guard lock(mutex_);
  const auto [entry, is_new] = told_.try_emplace(std::string(id));
  Told& told = entry->second;
  if (is_new) {
    order_.emplace_back(id);
  } else if (told.markers_id != markers_id || told.result_id != plan.result_id) {
    told.redefinition = std::make_shared<plan::Redefinition>();
  }
  told.markers_id = std::move(markers_id);
  told.result_id = plan.result_id;
  std::shared_ptr<plan::Redefinition> redefinition = told.redefinition;
  if (told_.size() > max_statements) {
    told_.erase(order_.front());
    order_.pop_front();
  }
  return redefinition;
}

}  // namespace sibyl::engine
