// Decodes key bytes: the inverse of key.h.
#pragma once

#include "base/result.h"
#include "types/value.h"

namespace sibyl::types {

// Removes one component from the front of `key` and returns the value's bytes. They are the original bytes if
// the type's encoding is lossless, otherwise a canonical equal value (decimal 1.00 is returned as 1).
base::Result<Bytes> decode_key(const Type& type, bool descending, BytesView& key);

// Decodes what encode_raw_key() has encoded.
base::Result<Bytes> decode_raw_key(BytesView& key);

}  // namespace sibyl::types
