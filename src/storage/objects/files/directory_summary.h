// Reads the contents of a directory without opening it.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "base/result.h"
#include "storage/objects/files/file_record.h"
#include "storage/objects/object_store.h"

namespace sibyl::storage::objects {

struct DirectorySummary {
  uint64_t epoch = 0;             // how often the directory was opened; 0: it does not exist
  uint64_t files = 0, bytes = 0;  // of complete files
  uint64_t trash = 0;             // files whose objects are still to be removed
};

// Blocks. The owner may change the directory meanwhile, so the numbers may not be of one moment.
base::Result<DirectorySummary> summarise_directory(ObjectStore& store, const std::string& name);

// The files by name, including incomplete ones. Empty if the directory does not exist. REQUIRES: no owner
// changes the directory meanwhile.
base::Result<std::map<std::string, FileRecord>> list_directory(ObjectStore& store, const std::string& name);

}  // namespace sibyl::storage::objects
