// Imports rows of a file into a table, over several connections with many writes in flight on each.
//
// The file is divided into pieces of complete records. A journal beside the file stores the position up to
// which all writes were acknowledged, so that the next run resumes there after a crash. Writes that may have
// been executed are sent again. This has no effect on ordinary columns, but would on counters, which is why
// counter tables are not supported. Rows that cannot be written are stored with the reasons.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "cli/copy/copy.h"

namespace CLI {
class App;
}

namespace sibyl::cli::copy {

struct ImportOptions : CommonOptions {
  uint64_t max_errors = 1000;
  unsigned window = 512;  // number of writes in flight on each connection
  std::optional<int32_t> ttl;
  std::optional<int64_t> timestamp;
  bool write_nulls = false;
  std::string journal;   // empty: FILE.import
  std::string rejected;  // the file for rejected rows; empty: named after the input file
  std::string sstables;  // a directory of Cassandra's data files, in place of the input file
};

// Returns the exit status of the process.
int run_import(const ImportOptions& options);

}  // namespace sibyl::cli::copy

namespace sibyl::cli {

// See commands.h. `import_sstables` runs the command if a directory of data files is given, and returns its
// exit status.
void add_import_command(CLI::App& app, std::function<int(const copy::ImportOptions&)> import_sstables);

}  // namespace sibyl::cli
