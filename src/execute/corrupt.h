// Errors of reads that meet damaged data.
#pragma once

#include "base/result.h"

namespace sibyl::execute {

inline base::Error corrupt_record() {
  return base::Error(base::ErrorCode::server, "A stored record cannot be decoded: the data is damaged");
}

inline base::Error corrupt_key() {
  return base::Error(base::ErrorCode::server, "A stored key cannot be decoded: the data is damaged");
}

inline base::Error corrupt_index_entry() {
  return base::Error(base::ErrorCode::server, "A stored index entry cannot be decoded: the data is damaged");
}

}  // namespace sibyl::execute
