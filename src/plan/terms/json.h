// Converts JSON text to values, for INSERT JSON and fromJson().
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "plan/terms/json_parse.h"
#include "schema/schema.h"
#include "types/value.h"

namespace sibyl::plan {

// Converts the node to a value of the type; nullopt for null. Errors name the expected type, with Cassandra's
// texts.
base::Result<std::optional<types::Bytes>> from_json(const types::Type& type, const JsonNode& node);

// The columns in the text of an INSERT JSON, by their index in table.columns; nullopt for null.
base::Result<std::map<size_t, std::optional<types::Bytes>>> json_columns(const schema::Table& table,
                                                                         std::string_view text);

}  // namespace sibyl::plan
