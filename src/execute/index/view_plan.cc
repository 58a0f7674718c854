#include "execute/index/view_plan.h"

#include <algorithm>
#include <unordered_map>

#include "base/check.h"
#include "execute/read/select_row.h"
#include "plan/evaluation/filters.h"
#include "plan/evaluation/intervals.h"
#include "plan/evaluation/partitions.h"
#include "types/keys/murmur3.h"

namespace sibyl::execute {

base::Result<std::unique_ptr<ViewPlan>> ViewPlan::make(schema::TablePtr view, const schema::Table& base) {
  auto plan = std::make_unique<ViewPlan>();
  plan->view_ = std::move(view);
  for (const schema::Column& column : plan->view_->columns) {
    const schema::Column* source = base.find_by_id(column.id);
    SIBYL_CHECK(source != nullptr);
    if (!column.is_primary_key()) {
      plan->selected_.push_back(column.id);
    } else if (source->is_primary_key()) {
      const auto from = source->is_clustering() ? Source::From::clustering : Source::From::partition_key;
      plan->key_sources_.push_back({from, static_cast<uint32_t>(source->position)});
    } else {
      plan->key_sources_.push_back({Source::From::cell, column.id});
      plan->key_cell_ = column.id;
    }
  }
  std::sort(plan->selected_.begin(), plan->selected_.end());
  SIBYL_ASSIGN(plan->filter_, plan::bind_view_filter(*plan->view_->view, base));
  return plan;
}

bool ViewPlan::selects(uint32_t column) const {
  return std::binary_search(selected_.begin(), selected_.end(), column);
}

bool ViewPlan::matches(BytesView partition_key, BytesView clustering, std::span<const Bytes> partition_values,
                       std::span<const Bytes> clustering_values) const {
  if (!filter_) return true;
  if (filter_->excludes_all) return false;
  if (const auto& keys = filter_->partition_keys) {
    if (!std::binary_search(keys->begin(), keys->end(), partition_key)) return false;
  } else if (const plan::TokenRange& tokens = filter_->tokens;
             tokens.first != INT64_MIN || tokens.last != INT64_MAX) {
    const int64_t token = types::murmur3_token(partition_key);
    if (token < tokens.first || token > tokens.last) return false;
  }
  const auto& intervals = filter_->intervals;
  const bool within = std::any_of(intervals.begin(), intervals.end(), [&](const plan::Interval& interval) {
    return clustering >= interval.begin && (!interval.end || clustering < *interval.end);
  });
  if (!within) return false;
  return std::all_of(filter_->filters.begin(), filter_->filters.end(), [&](const plan::Filter& filter) {
    const schema::Column& column = *filter.column;
    const auto& values = column.is_partition_key() ? partition_values : clustering_values;
    return satisfies(filter, types::ValueView::of(values[static_cast<size_t>(column.position)]));
  });
}

const ViewPlan& view_plan_of(const schema::TablePtr& view, const schema::Table& base) {
  // Plans by the address of their definition. A plan keeps its definition alive, so the address is not
  // reused.
  thread_local std::unordered_map<const schema::Table*, std::unique_ptr<ViewPlan>> plans;
  constexpr size_t max_plans = 64;
  if (const auto found = plans.find(view.get()); found != plans.end()) return *found->second;
  if (plans.size() >= max_plans) plans.clear();
  auto plan = ViewPlan::make(view, base);
  SIBYL_CHECK(plan.has_value());
  return *plans.emplace(view.get(), std::move(*plan)).first->second;
}

}  // namespace sibyl::execute
