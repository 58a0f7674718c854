// Statements that may be shown to others than whoever sent them.
#pragma once

#include <string>
#include <string_view>

namespace sibyl::cql {

// The text with every constant (strings, numbers, blobs, uuids, durations) replaced by `?` and comments left
// out; names and keywords stay. Any text will do: from where it is no CQL on, "…" stands.
std::string without_literals(std::string_view text);

}  // namespace sibyl::cql
