// The cells of partitions as texts, for layout.cc and the console to draw.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/describe/layout.h"
#include "row/record_key.h"
#include "schema/schema.h"
#include "storage/store.h"

namespace sibyl::engine {

struct LayoutCell {
  enum class Kind : uint8_t { value, deletion, marker };
  std::string name, value, written;  // written: timestamp and time to live
  Kind kind = Kind::value;
};

struct LayoutPartition {
  std::string key;
  int64_t token = 0;
  std::vector<LayoutCell> cells;
  size_t rows = 0;       // number of row records, including the rows that are not drawn
  size_t rows_left = 0;  // row records not drawn
  size_t records = 0, key_bytes = 0, value_bytes = 0;
  bool is_whole = true;  // false: the numbers above cover only options.max_records records
};

// Reads at most options.max_partitions partitions of [begin, end). Sets `more` if there are others.
base::Result<std::vector<LayoutPartition>> read_layout(const storage::Store& store,
                                                       const schema::Table& table, base::BytesView begin,
                                                       base::BytesView end, const LayoutOptions& options,
                                                       bool& more);

}  // namespace sibyl::engine
