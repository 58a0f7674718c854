// The part of a view's definition that is needed to maintain it, computed once. Internal to
// src/execute/index.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "plan/evaluation/keys.h"
#include "plan/evaluation/view_filter.h"
#include "schema/schema.h"
#include "types/keys/key.h"

namespace sibyl::execute {

using base::Bytes;
using base::BytesView;

// The columns of a view have the ids of the corresponding base columns.
class ViewPlan {
 public:
  // The source of a view key column in the base row.
  struct Source {
    enum class From : uint8_t { partition_key, clustering, cell } from;
    uint32_t index;  // index of the key component, or the cell's column id
  };

  // Fails if the WHERE clause cannot be bound.
  static base::Result<std::unique_ptr<ViewPlan>> make(schema::TablePtr view, const schema::Table& base);

  // One source for each column of the view's primary key, in order.
  const std::vector<Source>& key_sources() const { return key_sources_; }
  // The column that is in the view's key but not in the base's key. Rows without a value for it are not in
  // the view.
  std::optional<uint32_t> key_cell() const { return key_cell_; }
  // Returns true if the view contains this base column.
  bool selects(uint32_t column) const;
  // Returns true if the WHERE clause accepts a base row with this key. The key is given as bytes and as
  // values.
  bool matches(BytesView partition_key, BytesView clustering, std::span<const Bytes> partition_values,
               std::span<const Bytes> clustering_values) const;

 private:
  schema::TablePtr view_;
  std::vector<Source> key_sources_;
  std::optional<uint32_t> key_cell_;
  std::vector<uint32_t> selected_;                  // sorted
  std::unique_ptr<const plan::ViewFilter> filter_;  // nullptr: accepts every row
};

// Returns the plan of a view. Plans are cached per thread, so that writes neither rebuild them nor contend
// for a lock. The reference is valid until the thread's next call. REQUIRES: the view was accepted by CREATE.
const ViewPlan& view_plan_of(const schema::TablePtr& view, const schema::Table& base);

}  // namespace sibyl::execute
