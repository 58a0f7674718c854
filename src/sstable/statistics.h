// The serialization header in Statistics.db: the types of keys and columns, and the values to which times in
// Data.db are relative.
#pragma once

#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "types/type.h"

namespace sibyl::sstable {

struct HeaderColumn {
  std::string name;
  types::TypePtr type;
};

struct Header {
  int64_t min_timestamp = 0;
  uint32_t min_local_deletion_time = 0;
  uint32_t min_time_to_live = 0;
  std::string key_type;  // the class name
  std::vector<types::TypePtr> clustering;
  std::vector<bool> is_descending;  // order of each clustering column
  std::vector<HeaderColumn> static_columns, columns;
};

// Parses the contents of a Statistics.db file. `file` is named in errors. Checks the checksums.
base::Result<Header> parse_statistics(base::BytesView bytes, const std::string& file);

}  // namespace sibyl::sstable
