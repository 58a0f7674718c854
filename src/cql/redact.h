// Statements without the data in them, for logs and statistics.
#pragma once

#include <string>
#include <string_view>

namespace sibyl::cql {

// Replaces every constant (strings, numbers, blobs, uuids, durations) by `?` and removes comments. Names and
// keywords stay. Accepts any text: the result ends with "…" where the text stops being CQL.
std::string without_literals(std::string_view text);

}  // namespace sibyl::cql
