#include "plan/lua/library.h"

#include <algorithm>
#include <limits>
#include <lua.hpp>
#include <string_view>

#include "plan/lua/machine.h"
#include "plan/lua/patterns.h"

namespace sibyl::plan {

namespace {

// The registry key of the metatable that all tables of globals share.
const char globals_metatable = 0;

// --- Errors

// Like Lua's pcall, but errors raised by a limit cannot be caught.
int protected_call(lua_State* lua) {
  luaL_checkany(lua, 1);
  const int status = lua_pcall(lua, lua_gettop(lua) - 1, LUA_MULTRET, 0);
  if (LuaMachine::of(lua).is_exhausted()) return lua_error(lua);
  lua_pushboolean(lua, status == LUA_OK);
  lua_insert(lua, 1);
  return lua_gettop(lua);
}

// Like Lua's xpcall, but the handler runs after the failed call has ended. If a hook raised the error, a
// handler inside that call would run without hooks, and therefore without limits.
int protected_call_with_handler(lua_State* lua) {
  luaL_checktype(lua, 2, LUA_TFUNCTION);
  const int arguments = lua_gettop(lua) - 2;
  lua_pushvalue(lua, 1);
  lua_insert(lua, 3);
  const int status = lua_pcall(lua, arguments, LUA_MULTRET, 0);
  if (LuaMachine::of(lua).is_exhausted()) return lua_error(lua);
  lua_pushboolean(lua, status == LUA_OK);
  if (status == LUA_OK) {
    lua_replace(lua, 2);
    return lua_gettop(lua) - 1;
  }
  lua_replace(lua, 1);
  lua_pcall(lua, 1, 1, 0);  // calls the handler, which is below the error on the stack
  if (LuaMachine::of(lua).is_exhausted()) return lua_error(lua);
  return 2;
}

// --- Iteration

// Replaces Lua's own function, which searches the table for the next entry, and which Lua could call as
// __close after a limit was exceeded.
int next_entry(lua_State* lua) {
  luaL_checktype(lua, 1, LUA_TTABLE);
  if (LuaMachine::of(lua).is_exhausted()) return lua_error(lua);
  lua_settop(lua, 2);
  if (lua_next(lua, 1) != 0) return 2;
  lua_pushnil(lua);
  return 1;
}

int pairs(lua_State* lua) {
  luaL_checkany(lua, 1);
  if (luaL_getmetafield(lua, 1, "__pairs") != LUA_TNIL) {
    lua_pushvalue(lua, 1);
    lua_call(lua, 1, 3);
    return 3;
  }
  lua_pushcfunction(lua, next_entry);
  lua_pushvalue(lua, 1);
  lua_pushnil(lua);
  return 3;
}

// --- Lua's own functions behind ours

constexpr lua_Integer steps_per_charge = 256;

// Calls the function that this one replaces, with the same arguments.
int call_original(lua_State* lua, int results) {
  lua_pushvalue(lua, lua_upvalueindex(1));
  lua_insert(lua, 1);
  lua_call(lua, lua_gettop(lua) - 1, results);
  return lua_gettop(lua);
}

// --- Metatables and texts

// Refuses finalizers: Lua runs them where limits are not checked.
int set_metatable(lua_State* lua) {
  luaL_checktype(lua, 1, LUA_TTABLE);
  const int type = lua_type(lua, 2);
  luaL_argexpected(lua, type == LUA_TNIL || type == LUA_TTABLE, 2, "nil or table");
  if (luaL_getmetafield(lua, 1, "__metatable") != LUA_TNIL)
    return luaL_error(lua, "cannot change a protected metatable");
  if (type == LUA_TTABLE) {
    lua_pushliteral(lua, "__gc");
    if (lua_rawget(lua, 2) != LUA_TNIL) return luaL_error(lua, "a metatable must not have __gc here");
    lua_pop(lua, 1);
  }
  lua_settop(lua, 2);
  lua_setmetatable(lua, 1);
  return 1;
}

// Lua prints the addresses of objects without a text. These must not be visible.
void push_text(lua_State* lua, int index) {
  const int type = lua_type(lua, index);
  const bool has_address = type == LUA_TTABLE || type == LUA_TFUNCTION || type == LUA_TUSERDATA;
  if (!has_address) {
    luaL_tolstring(lua, index, nullptr);
    return;
  }
  const bool has_text = luaL_getmetafield(lua, index, "__tostring") != LUA_TNIL;
  if (has_text) {
    lua_pop(lua, 1);
    luaL_tolstring(lua, index, nullptr);
  } else {
    lua_pushstring(lua, luaL_typename(lua, index));
  }
}

int to_string(lua_State* lua) {
  luaL_checkany(lua, 1);
  push_text(lua, 1);
  return 1;
}

int format(lua_State* lua) {
  size_t size = 0;
  const char* text = luaL_checklstring(lua, 1, &size);
  const std::string_view pattern(text, size);
  for (size_t i = 0; i + 1 < pattern.size(); ++i) {
    if (pattern[i] != '%') continue;
    i = std::min(pattern.find_first_not_of("-+ #0123456789.", i + 1), pattern.size());
    if (i < pattern.size() && pattern[i] == 'p') return luaL_error(lua, "'%%p' is not allowed in 'format'");
  }
  for (int i = 2; i <= lua_gettop(lua); ++i) {
    if (lua_type(lua, i) != LUA_TTABLE && lua_type(lua, i) != LUA_TFUNCTION) continue;
    push_text(lua, i);
    lua_replace(lua, i);
  }
  return call_original(lua, 1);
}

int repeat(lua_State* lua) {
  size_t size = 0, separator_size = 0;
  luaL_checklstring(lua, 1, &size);
  luaL_checkinteger(lua, 2);
  luaL_optlstring(lua, 3, "", &separator_size);
  if (size + separator_size == 0) {
    lua_pushliteral(lua, "");
    return 1;
  }
  return call_original(lua, 1);
}

// Calls Lua's own function after charging for its text arguments.
int charged(lua_State* lua) {
  size_t bytes = 0;
  for (int i = lua_gettop(lua); i >= 1; --i)
    if (lua_type(lua, i) == LUA_TSTRING) bytes += lua_rawlen(lua, i);
  LuaMachine::of(lua).charge_bytes(lua, bytes);
  return call_original(lua, LUA_MULTRET);
}

// string.byte and table.unpack return one result for each position from the second argument to the third.
int charged_for_range(lua_State* lua) {
  constexpr lua_Integer most = 1'000'000;  // results beyond this number do not fit on the stack
  if (lua_isinteger(lua, 3)) {
    const lua_Integer from = luaL_optinteger(lua, 2, 1), to = lua_tointeger(lua, 3);
    const bool is_plain = from >= 0 && to >= 0;  // negative positions count from the end
    const auto count = is_plain ? to - std::min(from, to) : static_cast<lua_Integer>(lua_rawlen(lua, 1));
    LuaMachine::of(lua).charge(lua, std::min(count, most) / 4);
  }
  return call_original(lua, LUA_MULTRET);
}

// --- Tables

void check_true_length(lua_State* lua) {
  luaL_checktype(lua, 1, LUA_TTABLE);
  if (luaL_getmetafield(lua, 1, "__len") != LUA_TNIL)
    luaL_error(lua, "a table with __len is not allowed here");
  LuaMachine::of(lua).charge(lua, static_cast<int64_t>(lua_rawlen(lua, 1) / 16));
}

// Calls a library function that relies on the length of a table. Refuses tables that override it (__len).
int with_true_length(lua_State* lua) {
  check_true_length(lua);
  return call_original(lua, LUA_MULTRET);
}

void add_element(lua_State* lua, luaL_Buffer& text, lua_Integer index) {
  lua_geti(lua, 1, index);
  if (lua_isstring(lua, -1) == 0)
    luaL_error(lua, "invalid value (%s) at index %I in table for 'concat'", luaL_typename(lua, -1),
               static_cast<LUAI_UACINT>(index));
  luaL_addvalue(&text);
}

// Replaces Lua's own function, which does not check the budget between elements. Getting an element may need
// a call, and converting it takes time.
int concat(lua_State* lua) {
  check_true_length(lua);
  size_t size = 0;
  const char* separator = luaL_optlstring(lua, 2, "", &size);
  const auto first = luaL_optinteger(lua, 3, 1);
  const auto last = luaL_optinteger(lua, 4, static_cast<lua_Integer>(lua_rawlen(lua, 1)));
  luaL_Buffer text;
  luaL_buffinit(lua, &text);
  for (lua_Integer i = first; i < last; ++i) {
    if (i % steps_per_charge == 0) LuaMachine::of(lua).charge(lua, steps_per_charge);
    add_element(lua, text, i);
    luaL_addlstring(&text, separator, size);
  }
  if (first <= last) add_element(lua, text, last);
  luaL_pushresult(&text);
  return 1;
}

// The operator `<`, which is charged for the texts that it compares.
int less(lua_State* lua) {
  size_t bytes = 0;
  for (const int i : {1, 2})
    if (lua_type(lua, i) == LUA_TSTRING) bytes += lua_rawlen(lua, i);
  LuaMachine::of(lua).charge_bytes(lua, bytes);
  lua_pushboolean(lua, lua_compare(lua, 1, 2, LUA_OPLT));
  return 1;
}

// Only instructions are counted. Lua's sort runs none unless its order is a Lua function, so every other
// comparison is charged here.
int sort(lua_State* lua) {
  luaL_checktype(lua, 1, LUA_TTABLE);
  lua_settop(lua, 2);
  if (lua_isnil(lua, 2)) {
    lua_pushcfunction(lua, less);
    lua_replace(lua, 2);
  } else if (lua_iscfunction(lua, 2) != 0) {
    lua_pushcclosure(lua, charged, 1);
  }
  return with_true_length(lua);
}

// Calls Lua's own function for 256 elements at a time and checks the budget in between, because each element
// may need a call. Like Lua, it begins at the end if the target overlaps the source.
int move(lua_State* lua) {
  const lua_Integer from = luaL_checkinteger(lua, 2), to = luaL_checkinteger(lua, 3);
  const lua_Integer target = luaL_checkinteger(lua, 4);
  constexpr lua_Integer max = std::numeric_limits<lua_Integer>::max();
  const bool is_possible = to >= from && (from > 0 || to < max + from) && target <= max - (to - from);
  if (!is_possible) return call_original(lua, 1);
  lua_settop(lua, 5);
  if (lua_isnil(lua, 5)) {
    lua_pushvalue(lua, 1);
    lua_replace(lua, 5);
  }
  const bool is_backwards = target > from && target <= to && lua_compare(lua, 1, 5, LUA_OPEQ) != 0;
  const lua_Integer count = to - from + 1;
  for (lua_Integer done = 0; done < count; done += steps_per_charge) {
    const lua_Integer size = std::min(steps_per_charge, count - done);
    const lua_Integer at = is_backwards ? count - done - size : done;
    LuaMachine::of(lua).charge(lua, size);
    lua_pushvalue(lua, lua_upvalueindex(1));
    lua_pushvalue(lua, 1);
    lua_pushinteger(lua, from + at);
    lua_pushinteger(lua, from + at + size - 1);
    lua_pushinteger(lua, target + at);
    lua_pushvalue(lua, 5);
    lua_call(lua, 5, 0);
  }
  return 1;
}

int unpack(lua_State* lua) {
  luaL_checktype(lua, 1, LUA_TTABLE);
  if (lua_isnoneornil(lua, 3)) return with_true_length(lua);
  return charged_for_range(lua);
}

// --- Assembling the libraries

int read_only(lua_State* lua) {
  return luaL_error(lua, "the libraries cannot be changed");
}

// Copies the named fields of the table on top into the one below it.
template <size_t count>
void copy_fields(lua_State* lua, const char* const (&names)[count]) {
  for (const char* name : names) {
    lua_getfield(lua, -1, name);
    lua_setfield(lua, -3, name);
  }
}

// Sets field `name` of the table below the top to `function`. The upvalue is the original function, from the
// table on top.
void replace_field(lua_State* lua, const char* name, lua_CFunction function) {
  lua_getfield(lua, -1, name);
  lua_pushcclosure(lua, function, 1);
  lua_setfield(lua, -3, name);
}

// Replaces the table on top by an empty read-only proxy for it.
void protect(lua_State* lua) {
  lua_newtable(lua);
  lua_createtable(lua, 0, 3);
  lua_pushvalue(lua, -3);
  lua_setfield(lua, -2, "__index");
  lua_pushcfunction(lua, read_only);
  lua_setfield(lua, -2, "__newindex");
  lua_pushboolean(lua, 0);
  lua_setfield(lua, -2, "__metatable");
  lua_setmetatable(lua, -2);
  lua_remove(lua, -2);
}

// Leaves the real table of string functions on the stack.
void open_strings(lua_State* lua) {
  lua_newtable(lua);
  luaL_requiref(lua, LUA_STRLIBNAME, luaopen_string, 0);
  copy_fields(lua, {"char", "len"});
  for (const char* name : {"lower", "pack", "packsize", "reverse", "sub", "unpack", "upper"})
    replace_field(lua, name, charged);
  replace_field(lua, "byte", charged_for_range);
  replace_field(lua, "format", format);
  replace_field(lua, "rep", repeat);
  lua_pop(lua, 1);
  add_lua_patterns(lua);
  // ("text"):upper() uses the metatable of strings.
  lua_pushliteral(lua, "");
  lua_getmetatable(lua, -1);
  lua_pushvalue(lua, -3);
  lua_setfield(lua, -2, "__index");
  lua_pushboolean(lua, 0);
  lua_setfield(lua, -2, "__metatable");
  lua_pop(lua, 2);
}

void open_tables(lua_State* lua) {
  lua_newtable(lua);
  luaL_requiref(lua, LUA_TABLIBNAME, luaopen_table, 0);
  copy_fields(lua, {"pack"});
  for (const char* name : {"insert", "remove"}) replace_field(lua, name, with_true_length);
  replace_field(lua, "concat", concat);
  replace_field(lua, "sort", sort);
  replace_field(lua, "unpack", unpack);
  replace_field(lua, "move", move);
  lua_pop(lua, 1);
}

void open_mathematics(lua_State* lua) {
  lua_newtable(lua);
  luaL_requiref(lua, LUA_MATHLIBNAME, luaopen_math, 0);
  copy_fields(lua, {"abs",  "acos", "asin", "atan", "ceil",       "cos",  "deg",        "exp",  "floor",
                    "fmod", "huge", "log",  "max",  "maxinteger", "min",  "mininteger", "modf", "pi",
                    "rad",  "sin",  "sqrt", "tan",  "tointeger",  "type", "ult"});
  lua_pop(lua, 1);
}

void open_unicode(lua_State* lua) {
  lua_newtable(lua);
  luaL_requiref(lua, LUA_UTF8LIBNAME, luaopen_utf8, 0);
  copy_fields(lua, {"char", "charpattern", "codes"});
  for (const char* name : {"codepoint", "len", "offset"}) replace_field(lua, name, charged);
  lua_pop(lua, 1);
}

void add_library(lua_State* lua, const char* name, void (*open)(lua_State*)) {
  open(lua);
  protect(lua);
  lua_setfield(lua, -2, name);
}

}  // namespace

void open_lua_library(lua_State* lua) {
  lua_newtable(lua);
  luaL_requiref(lua, LUA_GNAME, luaopen_base, 0);
  copy_fields(lua, {"assert", "error", "getmetatable", "ipairs", "rawget", "rawlen", "select", "type"});
  for (const char* name : {"rawequal", "tonumber"}) replace_field(lua, name, charged);
  lua_pop(lua, 1);
  const luaL_Reg own[] = {{"next", next_entry},
                          {"pairs", pairs},
                          {"pcall", protected_call},
                          {"xpcall", protected_call_with_handler},
                          {"setmetatable", set_metatable},
                          {"tostring", to_string},
                          {nullptr, nullptr}};
  luaL_setfuncs(lua, own, 0);
  add_library(lua, "string", open_strings);
  add_library(lua, "table", open_tables);
  add_library(lua, "math", open_mathematics);
  add_library(lua, "utf8", open_unicode);

  lua_createtable(lua, 0, 2);
  lua_pushvalue(lua, -2);
  lua_setfield(lua, -2, "__index");
  lua_pushboolean(lua, 0);
  lua_setfield(lua, -2, "__metatable");
  lua_rawsetp(lua, LUA_REGISTRYINDEX, &globals_metatable);
  lua_pop(lua, 1);
  // Removes Lua's own tables of loaded libraries.
  for (const char* key : {LUA_LOADED_TABLE, LUA_PRELOAD_TABLE}) {
    lua_pushnil(lua);
    lua_setfield(lua, LUA_REGISTRYINDEX, key);
  }
  lua_newtable(lua);
  lua_rawseti(lua, LUA_REGISTRYINDEX, LUA_RIDX_GLOBALS);
}

void push_lua_globals(lua_State* lua) {
  lua_newtable(lua);
  lua_rawgetp(lua, LUA_REGISTRYINDEX, &globals_metatable);
  lua_setmetatable(lua, -2);
}

}  // namespace sibyl::plan
