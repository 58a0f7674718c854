// Turns one row of a source's result into the writes that make the same row on the target.
//
// Cells with the same write time and TTL are written together. CQL does not show when the row itself (its
// marker) was written. So the INSERT that makes the marker has the write time of the cells that live longest.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "base/result.h"
#include "cli/migrate/part.h"
#include "client/connection.h"
#include "types/value.h"

namespace sibyl::cli::migrate {

struct Write {
  size_t statement = 0;  // index in Part::statements
  std::vector<types::ValueView> values;
};

// Writes of one row, to be applied together and in order. Values point into the row that they were made from,
// and into `owned`.
struct RowWrites {
  RowWrites() = default;
  // Moving keeps the addresses of `owned`; a copy would point into the original.
  RowWrites(RowWrites&&) = default;
  RowWrites& operator=(RowWrites&&) = default;

  std::vector<Write> writes;
  std::deque<base::Bytes> owned;
  bool has_only_key = false;       // the row has no cells, so the time of its marker is unknown
  bool has_unknown_times = false;  // an unfrozen collection, of which the source returned no times
  bool replaced_list = false;      // the target had a different list
};

// The write time of rows that have only their key. It is older than any deletion that clients may have sent
// to the target meanwhile.
inline constexpr int64_t unknown_time = 1;

// `row` is a row of Part::select; `target` is the target's row of Part::read_target, with nulls if there is
// none (empty if the part does not read the target).
base::Result<RowWrites> make_writes(const Part& part, const client::Row& row, const client::Row& target);

}  // namespace sibyl::cli::migrate
