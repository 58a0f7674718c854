// What keeping a view needs of its definition, worked out once. Private to this room.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "plan/keys.h"
#include "plan/view_filter.h"
#include "schema/schema.h"
#include "types/key.h"

namespace sibyl::execute {

using base::Bytes;
using base::BytesView;

// A view's columns have the ids of the base's columns that they come from.
class ViewPlan {
 public:
  // Where a column of the view's key has its value in the base row.
  struct Source {
    enum class From : uint8_t { partition_key, clustering, cell } from;
    uint32_t index;  // of the key component; the cell's column id
  };

  // Fails when the WHERE clause does not bind.
  static base::Result<std::unique_ptr<ViewPlan>> make(schema::TablePtr view, const schema::Table& base);

  // One for each column of the view's primary key, in order.
  const std::vector<Source>& key_sources() const { return key_sources_; }
  // The column that is part of the view's key but not of the base's: rows without it are not in the view.
  std::optional<uint32_t> key_cell() const { return key_cell_; }
  // Whether the base's cells of this column are copied.
  bool selects(uint32_t column) const;
  // Whether the WHERE clause lets a base row of this key in: the key's bytes, and the values in it.
  bool matches(BytesView partition_key, BytesView clustering, std::span<const Bytes> partition_values,
               std::span<const Bytes> clustering_values) const;

 private:
  schema::TablePtr view_;
  std::vector<Source> key_sources_;
  std::optional<uint32_t> key_cell_;
  std::vector<uint32_t> selected_;                  // sorted
  std::unique_ptr<const plan::ViewFilter> filter_;  // nullptr: every row
};

// The plan of a view; kept per thread, so that a write neither makes it again nor waits for others. REQUIRES:
// the view was accepted by CREATE. Valid until the thread asks for another one.
const ViewPlan& view_plan_of(const schema::TablePtr& view, const schema::Table& base);

}  // namespace sibyl::execute
