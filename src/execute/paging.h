// Paging states: where a page ended, in bytes that clients hand back.
//
// They name keys, not places in memory: a state works on another connection and after a restart. The engine
// encrypts them before a client gets them (engine/paging_states.h). Layout: a
// magic byte, a version byte, the table's storage id, the position, what is left of the limits, a checksum.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "execute/reader.h"

namespace sibyl::execute {

struct PagingState {
  Position position;
  int64_t remaining = 0;               // of LIMIT
  int64_t remaining_in_partition = 0;  // of PER PARTITION LIMIT, in the position's partition
};

Bytes encode_paging_state(const schema::Table& table, const PagingState& state);
// Bytes that are no state of this table's are refused. Clients cannot make any; but the table may be another
// one.
base::Result<PagingState> decode_paging_state(const schema::Table& table, BytesView bytes);

}  // namespace sibyl::execute
