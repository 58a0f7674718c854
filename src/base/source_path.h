// For tests: finds files of the repository.
#pragma once

#include <string>
#include <string_view>

namespace sibyl::base {

// Returns the absolute path of a file or folder. `path` is relative to the root of the repository.
std::string source_path(std::string_view path);

}  // namespace sibyl::base
