// The files of an SSTable on disk, by Cassandra's naming: nb-1-big-Data.db, da-3gcx_0uyt_1e7hs-bti-Data.db, …
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace sibyl::sstable {

struct Files {
  std::string directory;
  std::string prefix;   // "nb-1-big"
  std::string version;  // "nb"
  std::string format;   // "big" or "bti"

  std::string path(const char* component) const { return directory + "/" + prefix + "-" + component; }
};

// Returns the SSTables of a directory, in the order of their names. Fails if there are none, or if one has a
// version that cannot be read.
base::Result<std::vector<Files>> find_files(const std::string& directory);

// Parses the name of a Data.db file. Returns an error for other names and unknown versions.
base::Result<Files> parse_name(const std::string& directory, const std::string& name);

// True for versions that encode deletion times with unsigned seconds (5.0).
bool has_unsigned_times(const std::string& version);

// An error that names the file and an offset in it.
base::Error damage(const std::string& file, uint64_t offset, const std::string& what);

}  // namespace sibyl::sstable
