#include "plan/restrictions/bound.h"

namespace sibyl::plan {

std::vector<RestrictionPtr> distinct(const std::vector<RestrictionPtr>& by_position) {
  std::vector<RestrictionPtr> list;
  for (const RestrictionPtr& restriction : by_position)
    if (restriction != nullptr && (list.empty() || list.back() != restriction)) list.push_back(restriction);
  return list;
}

}  // namespace sibyl::plan
