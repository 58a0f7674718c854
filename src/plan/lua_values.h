// CQL values as Lua values and back; docs/functions.md has the table. Private to this room.
#pragma once

#include <optional>

#include "base/result.h"
#include "types/value.h"

struct lua_State;

namespace sibyl::plan {

// Pushes one value. Raises a Lua error when there is no memory for it. REQUIRES: the bytes are valid for the
// type.
void push_lua_value(lua_State* lua, const types::Type& type, base::BytesView bytes);

// Takes the value on top of the stack as one of `type`; nullopt: null. Runs no metamethods. Errors say what
// was expected. `budget` is how many bytes it may make: a small table can hold one large string many times.
base::Result<std::optional<base::Bytes>> read_lua_value(lua_State* lua, const types::Type& type,
                                                        size_t& budget);

}  // namespace sibyl::plan
