// What a function in Lua may call. Private to this room.
//
// Every function here runs in time that its steps, or the bytes it allocates, pay for: those of Lua's own
// that do not (patterns, table.move, string.rep of nothing, tables that lie about their length) are replaced.
#pragma once

struct lua_State;

namespace sibyl::plan {

// Makes the libraries and keeps them in the registry. Raises a Lua error when there is no memory.
void open_lua_library(lua_State* lua);

// Pushes a new table of globals: the libraries shine through it, and what is written stays in it.
void push_lua_globals(lua_State* lua);

// Puts find, match, gmatch and gsub into the table on top of the stack.
void add_lua_patterns(lua_State* lua);

}  // namespace sibyl::plan
