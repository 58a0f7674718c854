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
// Like repeat(), for mutations that form a chain. If the storage is full after an attempt whose outcome is unknown, that attempt
// may still be applied once there is space. `cancel` then takes its place in the chain: it has the same guards, sets the same
// values, is allowed when the storage is full, and is marked so that the caller can tell them apart when it reads the object after
// `mismatch` or `exists`. If it is applied, the reply is `full` and is_cancelled is true: the mutation never happens.
struct ChainReply {
  Reply reply;
  bool is_cancelled = false;
  bool was_in_doubt = false;  // a copy of the mutation may still arrive; its guards refuse it
};
ChainReply repeat_or_cancel(ObjectStore& store, const std::string& object, const Mutation& mutation,
                            const Mutation& cancel, std::chrono::milliseconds patience);
// The same for reads, which are always repeatable.
ReadReply repeat_read(ObjectStore& store, const std::string& object, const Read& what,
                      std::chrono::milliseconds patience);

}  // namespace sibyl::storage::objects
