// The cells of partitions as texts: what layout.cc draws.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/layout.h"
#include "row/record_key.h"
#include "schema/schema.h"
#include "storage/store.h"

namespace sibyl::engine {

struct LayoutCell {
  std::string name, value, written;  // written: timestamp and time to live
};

struct LayoutPartition {
  std::string key;
  int64_t token = 0;
  std::vector<LayoutCell> cells;
  size_t rows = 0;       // records of rows, those left out included
  size_t rows_left = 0;  // not drawn
  size_t records = 0, key_bytes = 0, value_bytes = 0;
};

// The partitions of [begin, end), at most options.max_partitions; `more` tells that there are others.
base::Result<std::vector<LayoutPartition>> read_layout(const storage::Store& store,
                                                       const schema::Table& table, base::BytesView begin,
                                                       base::BytesView end, const LayoutOptions& options,
                                                       bool& more);

}  // namespace sibyl::engine
