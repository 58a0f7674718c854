// The functions that Lua code may call. Internal to src/plan/lua.
//
// The running time of every function is charged as steps or as allocated bytes. Functions of Lua's own
// library that would run uncharged (patterns, table.move, string.rep of an empty string, tables with a false
// length) are replaced.
#pragma once

struct lua_State;

namespace sibyl::plan {

// Creates the libraries and stores them in the registry. Raises a Lua error if memory runs out.
void open_lua_library(lua_State* lua);

// Pushes a new table of globals. Reads fall through to the libraries; writes stay in the table.
void push_lua_globals(lua_State* lua);

}  // namespace sibyl::plan
