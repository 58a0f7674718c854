// COPY: parses it into the arguments of `sibyl import` and `sibyl export`, which do the work.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace sibyl::cli::shell {

struct CopyStatement {
  std::vector<std::string> arguments;  // such as import films.movies ratings.csv --header
  std::vector<std::string> ignored;    // options that only tune cqlsh, in upper case
};

// Parses COPY table [(columns)] FROM | TO 'file' | STDIN | STDOUT [WITH option = value AND …]. `keyspace` is
// used for a table without one; it may be empty. Errors have a hint that says what to write.
base::Result<CopyStatement> parse_copy(std::string_view text, const std::string& keyspace);

}  // namespace sibyl::cli::shell
