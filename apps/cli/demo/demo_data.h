// The tables and rows of `sibyl demo`.
#pragma once

#include <string>
#include <string_view>

namespace sibyl::cli::demo {

// CQL that creates the keyspaces, tables and first rows.
extern const std::string_view definitions;

}  // namespace sibyl::cli::demo
