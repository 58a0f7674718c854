// Draws how the cells of a partition are stored, as on a whiteboard: a map from row keys to sorted maps of
// cells.
//
//   +--------------+------------------------+------------------------+
//   | row key      | columns                                         |
//   +--------------+------------------------+------------------------+
//   |              | 1368284297711:"rating" | 1368284468993:"rating" |
//   | Pulp Fiction | 9                      | 10                     |
//   |              | @1700000000000000      | @1700000000000001      |
//   +--------------+------------------------+------------------------+
//
// The first line of a cell is its name: clustering prefix and column. The second line is the value. The third
// line is the write timestamp in microseconds and, if it expires, the time to live. Deletions of a partition,
// a range, a row, a column or an element are drawn as cells as well. Static cells come first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/engine.h"

namespace sibyl::engine {

struct LayoutPartition;  // layout_model.h

struct LayoutOptions {
  size_t max_partitions = 10;     // when no partition is named
  size_t max_rows = 20;           // rows shown of each partition; further ones are only counted
  size_t max_records = SIZE_MAX;  // limit for the records of all partitions together; reading ends at it
  size_t width = 100;             // width of the drawing in characters
  bool markers = false;           // also show the markers of rows that have cells
};

// `partition` is the partition key as CQL literals separated by commas. A single text key may be written
// without quotes.
base::Result<std::string> render_layout(Engine& engine, const std::string& keyspace, const std::string& table,
                                        const std::optional<std::string>& partition,
                                        const LayoutOptions& options = {});

// Reads the cells of at most options.max_partitions partitions. Sets `more` if there are others. `partition`
// is as in render_layout(); nullopt: the first partitions.
base::Result<std::vector<LayoutPartition>> read_layout(Engine& engine, const std::string& keyspace,
                                                       const std::string& table,
                                                       const std::optional<std::string>& partition,
                                                       const LayoutOptions& options, bool& more);

}  // namespace sibyl::engine
