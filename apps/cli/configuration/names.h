// Names of settings, and the names that a misspelt one may mean.
#pragma once

#include <string>
#include <string_view>

namespace sibyl::cli {

// True for all names of Cassandra 5.0's cassandra.yaml, including older spellings.
bool is_cassandra_name(std::string_view name);
// Returns the known name nearest to a misspelt one, or an empty string.
std::string nearest_name(std::string_view name);
// "unknown setting 'memroy'; did you mean 'memory'?"
std::string unknown_setting_text(std::string_view name);

}  // namespace sibyl::cli
