// Compares our matcher with Lua's own on random patterns.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <lua.hpp>

#include "plan/lua/lua.h"

namespace sibyl::plan {
namespace {

using types::Kind;
using types::ValueView;

// Returns the results of all four functions for a subject and a pattern, as text.
constexpr const char* probe = R"(
  local function texts(...)
    local t = table.pack(...)
    for i = 1, t.n do t[i] = tostring(t[i]) end
    return table.concat(t, '|')
  end
  local function try(name, ...)
    local t = table.pack(pcall(string[name], ...))
    -- Messages name the function in one place only.
    return texts(table.unpack(t, 1, t.n))
  end
  local out = {try('find', s, p), try('match', s, p), try('find', s, p, 2), try('match', s, p, -2),
               try('find', s, p, 1, true), try('gsub', s, p, '<%0>'), try('gsub', s, p, '%1'),
               try('gsub', s, p, {a = 'X'}), try('gsub', s, p, '.', 2)}
  local ok, message = pcall(function()
    for a, b in string.gmatch(s, p) do out[#out + 1] = texts(a, b) end
  end)
  out[#out + 1] = tostring(ok)
  return table.concat(out, '\n')
)";

std::string ours(const std::string& subject, const std::string& pattern) {
  static const auto function = LuaFunction::compile({"f",
                                                     {"s", "p"},
                                                     {types::scalar(Kind::blob), types::scalar(Kind::blob)},
                                                     types::scalar(Kind::blob),
                                                     probe});
  const ValueView arguments[] = {ValueView::of(subject), ValueView::of(pattern)};
  const auto result = (*function)->call(arguments);
  return result && *result ? **result : "error: " + result.error().message();
}

std::string lua_s(const std::string& subject, const std::string& pattern) {
  static lua_State* const lua = [] {
    lua_State* state = luaL_newstate();
    luaL_openlibs(state);
    const std::string source = std::string("local s, p = ...;") + probe;
    EXPECT_EQ(luaL_loadbuffer(state, source.data(), source.size(), "=f"), LUA_OK);
    return state;
  }();
  lua_pushvalue(lua, -1);
  lua_pushlstring(lua, subject.data(), subject.size());
  lua_pushlstring(lua, pattern.data(), pattern.size());
  EXPECT_EQ(lua_pcall(lua, 2, 1, 0), LUA_OK);
  size_t size = 0;
  const char* text = lua_tolstring(lua, -1, &size);
  std::string result(text, size);
  lua_pop(lua, 1);
  return result;
}

std::string text_of_pieces(const std::vector<const char*>& pieces) {
  std::string text;
  for (const char* piece : pieces) text += piece;
  return text;
}

TEST(LuaPatterns, BackReferencesToPositionCaptures) {
  EXPECT_EQ(ours("1", "()%1"), lua_s("1", "()%1"));
  EXPECT_EQ(ours("aa", "()a%1"), lua_s("aa", "()a%1"));
}

TEST(LuaPatternsProperty, ResultsMatchLuas) {
  EXPECT_TRUE(rc::check([] {
    const auto subject_pieces =
        *rc::gen::resize(10, rc::gen::container<std::vector<const char*>>(rc::gen::element(
                                 "a", "b", "A", "1", " ", "(", ")", "aa", "ab", "%", ".", "-", "]", "")));
    const auto pattern_pieces =
        *rc::gen::resize(8, rc::gen::container<std::vector<const char*>>(rc::gen::element(
                                "a", "b", ".", "%a", "%d", "%A", "%s", "[ab]", "[^a]", "[a-c]", "[%a1]",
                                "[]]", "*", "+", "-", "?", "(", ")", "()", "(a)", "(.-)", "%1", "%b()",
                                "%f[a]", "^", "$", "%%", "%", "[", "]", "[a", "%2")));
    const std::string subject = text_of_pieces(subject_pieces), pattern = text_of_pieces(pattern_pieces);
    const std::string mine = ours(subject, pattern), theirs = lua_s(subject, pattern);
    if (mine != theirs) RC_LOG() << "subject '" << subject << "' pattern '" << pattern << "'\n";
    RC_ASSERT(mine == theirs);
  }));
}

}  // namespace
}  // namespace sibyl::plan
