// Repeats a mutation until its outcome is known.
#pragma once

#include <chrono>
#include <string>

#include "storage/objects/object_store.h"

namespace sibyl::storage::objects {

// Sends the same mutation until its outcome is known, the client is fenced, or `patience` has passed. REQUIRES: it does
// no harm if it is applied more than once, or late, because of its guards or because it repeats itself. A reply of
// `mismatch` or `exists` may then mean that an earlier attempt was applied. Blocks.
Reply repeat(ObjectStore& store, const std::string& object, const Mutation& mutation,
             std::chrono::milliseconds patience);
// The same for reads, which are always repeatable.
ReadReply repeat_read(ObjectStore& store, const std::string& object, const Read& what,
                      std::chrono::milliseconds patience);

}  // namespace sibyl::storage::objects
