// Paging states: the position at which a page ended, as bytes that the client sends back.
//
// They contain keys and no memory addresses, so a state is valid on another connection and after a restart.
// The engine encrypts them before they are sent to a client (engine/prepared/paging_states.h). Layout: a
// magic byte, a version byte, the table's storage id, the position, the remaining limits, a checksum.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "execute/read/reader.h"

namespace sibyl::execute {

struct PagingState {
  Position position;
  int64_t remaining = 0;               // of LIMIT
  int64_t remaining_in_partition = 0;  // rows left of PER PARTITION LIMIT in the position's partition
};

Bytes encode_paging_state(const schema::Table& table, const PagingState& state);
// Returns an error if the bytes are not a state of this table. Clients cannot forge states, but may send one
// of another table.
base::Result<PagingState> decode_paging_state(const schema::Table& table, BytesView bytes);

}  // namespace sibyl::execute
