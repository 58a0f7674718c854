// Converts JSON text to values, for INSERT JSON and fromJson().
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "schema/schema.h"
#include "types/value.h"

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

// Converts the node to a value of the type; nullopt for null. Errors name the expected type, with Cassandra's
// texts.
base::Result<std::optional<types::Bytes>> from_json(const types::Type& type, const JsonNode& node);

// The columns in the text of an INSERT JSON, by their index in table.columns; nullopt for null.
base::Result<std::map<size_t, std::optional<types::Bytes>>> json_columns(const schema::Table& table,
                                                                         std::string_view text);

}  // namespace sibyl::plan
