// The parts of a batch as bytes: in messages between servers, and in an intent's record.
//
//   part      version 1, timestamp i64, number of merges (varint), for each its sized key and sized fragment
#pragma once

#include <cstdint>

#include "base/bytes.h"
#include "base/result.h"
#include "storage/store.h"

namespace sibyl::engine {

// Merges of a batch, and the timestamp that its server assigned to them.
struct BatchPart {
  int64_t timestamp = 0;
  storage::WriteSet merges;  // nothing else

  base::Bytes encode() const;
  static base::Result<BatchPart> decode(base::BytesView bytes);
};

// Replaces a timestamp in all merges of the part. Fails if a fragment cannot be read.
base::Status change_timestamp(BatchPart& part, int64_t timestamp);

}  // namespace sibyl::engine
