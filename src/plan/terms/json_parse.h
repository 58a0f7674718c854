// JSON text as a tree.
//
// Boost.JSON's parser would not do. Its only errors are "syntax error" and "incomplete JSON" where the texts
// here name the mistake: a missing name, colon, comma or digit, a leading zero, an unescaped control
// character, an unknown escape. It also refuses exponents that do not fit an int, such as 0e9999999999, which
// are numbers for Cassandra, and it converts every number although only its text is needed.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace sibyl::plan {

// A JSON value. Numbers keep their text, so that no digits are lost.
struct JsonNode {
  enum class Kind { null, boolean, integer, floating, string, array, object };
  Kind kind = Kind::null;
  std::string text;  // numbers and strings: their text; booleans: "true" or "false"
  std::vector<JsonNode> elements;
  std::vector<std::pair<std::string, JsonNode>> members;
};

// Refuses text that is not exactly one JSON value, and deep nesting.
base::Result<JsonNode> parse_json(std::string_view text);

}  // namespace sibyl::plan
