// Combines several merges of one record. Internal to src/execute/write.
#pragma once

#include "storage/store.h"

namespace sibyl::execute {

// Replaces the merges of each key with a single merge that has the same effect. If a batch writes to one row
// many times, the commit and later reads then handle only one fragment. Changes the order of operations, so
// it does nothing unless the write set contains only merges.
void combine_merges(storage::WriteSet& writes);

}  // namespace sibyl::execute
