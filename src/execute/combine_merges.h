// Making several merges of one record one. Private to this room.
#pragma once

#include "storage/store.h"

namespace sibyl::execute {

// Replaces the merges of each key by one merge of them all, which readers cannot tell apart: a batch that
// writes to one row many times costs the commit and later reads one fragment. Changes the order of
// operations, and so does nothing when some operation is not a merge.
void combine_merges(storage::WriteSet& writes);

}  // namespace sibyl::execute
