// Results of statements as JSON, with their types.
#pragma once

#include <boost/json/fwd.hpp>

#include "execute/result_set.h"

namespace sibyl::cli::console {

inline constexpr size_t max_result_bytes = 8 << 20;  // text of the cells of one response
inline constexpr size_t max_cell_bytes = 64 << 10;

// The result is {"kind": "rows", "columns": […], "rows": [[…]], …}. A cell is null, a text, or {"text",
// "json"} for a collection, tuple, user type or vector. A cell that is cut is {"text", "bytes"} with the
// length of the whole.
boost::json::object result_json(const execute::ResultSet& result);

// Encodes paging states and other bytes as text.
std::string to_base64(std::string_view bytes);
std::optional<std::string> from_base64(std::string_view text);

}  // namespace sibyl::cli::console
