// Converts CQL values to Lua values and back; docs/functions.md has the table. Internal to src/plan/lua.
#pragma once

#include <optional>

#include "base/result.h"
#include "types/value.h"

struct lua_State;

namespace sibyl::plan {

// Pushes one value. Raises a Lua error if memory runs out. REQUIRES: the bytes are valid for the type.
void push_lua_value(lua_State* lua, const types::Type& type, base::BytesView bytes);

// Converts the value on top of the stack to `type`. Returns nullopt for null. Runs no metamethods. Errors
// name the expected type. `budget` limits the bytes of the result, because a small table can contain one
// large string many times.
base::Result<std::optional<base::Bytes>> read_lua_value(lua_State* lua, const types::Type& type,
                                                        size_t& budget);

}  // namespace sibyl::plan
