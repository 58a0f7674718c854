// Lua's functions on patterns. Internal to src/plan/lua.
#pragma once

struct lua_State;

namespace sibyl::plan {

// Adds find, match, gmatch and gsub to the table on top of the stack.
void add_lua_patterns(lua_State* lua);

}  // namespace sibyl::plan
