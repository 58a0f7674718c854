// JSON text as a tree.
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
  std::string text;  // for numbers and strings; "true" or "false"
  std::vector<JsonNode> elements;
  std::vector<std::pair<std::string, JsonNode>> members;
};

// Refuses text that is not exactly one JSON value, and deep nesting.
base::Result<JsonNode> parse_json(std::string_view text);

}  // namespace sibyl::plan
