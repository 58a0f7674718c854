// Combines several merges of one record. Internal to src/execute/write.
#pragma once

#include "storage/store.h"

namespace sibyl::execute {

// Replaces the merges of each key with a single merge that has the same effect. A batch that writes to one
// row many times thereby costs the commit and later reads one fragment. Changes the order of operations, so
// it does nothing if the write set contains anything but merges.
void combine_merges(storage::WriteSet& writes);

}  // namespace sibyl::execute
