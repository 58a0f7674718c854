// Repeats a mutation until its outcome is known.
#pragma once

#include <chrono>
#include <string>

#include "storage/objects/object_store.h"

namespace sibyl::storage::objects {

// Sends the same mutation until its outcome is known, the client is fenced, or `patience` has passed.
// REQUIRES: applying the mutation more than once, or late, does no harm, because of its guards or because it
// is idempotent. A reply of `mismatch` or `exists` may then mean that an earlier attempt was applied. Blocks.
Reply repeat(ObjectStore& store, const std::string& object, const Mutation& mutation,
             std::chrono::milliseconds patience);
// Like repeat(), for mutations that form a chain. If the storage is full after an attempt whose outcome is
// unknown, that attempt may still be applied once there is space. Then `cancel` is sent instead. It has the
// same guards, sets the same values, and is allowed when the storage is full. It is marked, so that the
// caller can distinguish it from the mutation when it reads the object after `mismatch` or `exists`. If it is
// applied, the reply is `full`, is_cancelled is true, and the mutation is never applied.
struct ChainReply {
  Reply reply;
  bool is_cancelled = false;
  bool was_in_doubt = false;  // a copy of the mutation may still arrive, but its guards refuse it
};
ChainReply repeat_or_cancel(ObjectStore& store, const std::string& object, const Mutation& mutation,
                            const Mutation& cancel, std::chrono::milliseconds patience);
// Repeats a read until it succeeds, the client is fenced, or `patience` has passed.
ReadReply repeat_read(ObjectStore& store, const std::string& object, const Read& what,
                      std::chrono::milliseconds patience);

}  // namespace sibyl::storage::objects
