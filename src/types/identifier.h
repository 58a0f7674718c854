// Quotes names and texts for CQL.
#pragma once

#include <string>
#include <string_view>

namespace sibyl::types {

// Quotes an identifier if it needs quotes: `name` or `"Name"`. Reserved words are quoted.
std::string quote_identifier(std::string_view name);
std::string quote_string(std::string_view text);  // 'it''s'

}  // namespace sibyl::types
