// Memory of large records in flushes and compactions, which no limit refuses.
//
// RocksDB copies a record several times: its block, the merged record, the block that is written, and the
// compressed block. The threads of RocksDB reserve each copy of a record of 1 MiB or more before it is made, and
// then wait a short time, so that statements free their memory first and do not get more meanwhile. If they
// do not free it, the work continues anyway.
#pragma once

#include <rocksdb/table_properties.h>

#include <cstddef>
#include <memory>

#include "base/reservation.h"

namespace sibyl::storage::rocksdb {

class LargeBlocks;

// Call when a flush or compaction begins on this thread.
void mark_background_thread();
bool is_background_thread();

// Reserves memory and waits until all memory is within the limit, at most for a few seconds. Returns an empty
// reservation for small blocks and on threads that were not marked.
base::MemoryReservation reserve_in_background(size_t bytes);

// Reserves the memory to compress a record that was written to the block of a file, and ends the turn of the
// thread when the next record is written. Borrows the blocks.
std::shared_ptr<::rocksdb::TablePropertiesCollectorFactory> make_record_reservations(LargeBlocks& blocks);

}  // namespace sibyl::storage::rocksdb
