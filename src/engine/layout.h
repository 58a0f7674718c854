// How a partition really lies in the store, drawn as on a whiteboard: a map from row keys to sorted maps of
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
// A cell's name is its clustering prefix and its column, its second line the value, its third the write
// timestamp in microseconds, and, where it has one, its time to live. Deletions are cells too: of the
// partition, a range, a row, a column or an element. Static cells come first.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "engine/engine.h"

namespace sibyl::engine {

struct LayoutOptions {
  size_t max_partitions = 10;  // when none is named
  size_t max_rows = 20;        // of each partition; what is left out is counted
  size_t width = 100;          // of the drawing, in characters
  bool markers = false;        // show row markers even of rows that have cells
};

// `partition` is the partition key as CQL literals separated by commas; a single text key may do without
// quotes.
base::Result<std::string> render_layout(Engine& engine, const std::string& keyspace, const std::string& table,
                                        const std::optional<std::string>& partition,
                                        const LayoutOptions& options = {});

}  // namespace sibyl::engine
