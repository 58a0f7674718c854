#include "plan/lua/lua.h"

#include <gtest/gtest.h>

#include <ctime>
#include <thread>

#include "base/statement.h"
#include "types/literals/literal.h"
#include "types/number.h"
#include "types/print_value.h"

namespace sibyl::plan {
namespace {

using base::Bytes;
using types::Kind;
using types::TypePtr;
using types::ValueView;

LuaFunction::Definition definition(std::string body, TypePtr returns = types::scalar(Kind::text)) {
  return {"ks.f", {}, {}, std::move(returns), std::move(body)};
}

std::shared_ptr<const LuaFunction> compiled(LuaFunction::Definition definition, LuaLimits limits = {}) {
  auto function = LuaFunction::compile(std::move(definition), limits);
  EXPECT_TRUE(function) << function.error().message();
  return function ? *function : nullptr;
}

// The result as a literal, "null", or "error: ...".
std::string run(const LuaFunction& function, std::vector<ValueView> arguments = {},
                const TypePtr& returns = types::scalar(Kind::text)) {
  const auto result = function.call(arguments);
  if (!result) return "error: " + result.error().message();
  return *result ? types::to_literal(*returns, **result) : "null";
}

std::string run(const std::string& body, const TypePtr& returns = types::scalar(Kind::text)) {
  const auto function = compiled(definition(body, returns));
  return function ? run(*function, {}, returns) : "not compiled";
}

// Passes a value as `a` and returns it.
std::string echo(const TypePtr& type, const Bytes& bytes, const std::string& body = "return a") {
  const auto function = compiled({"ks.f", {"a"}, {type}, type, body});
  return run(*function, {ValueView::of(bytes)}, type);
}

LuaLimits small_limits() {
  LuaLimits limits;
  limits.steps = 200'000;
  limits.memory_bytes = 1u << 20;
  return limits;
}

std::string run_small(const std::string& body) {
  const auto function = compiled(definition(body), small_limits());
  return function ? run(*function) : "not compiled";
}

void expect_too_many_steps(const std::string& body) {
  EXPECT_EQ(run_small(body), "error: the function took too many steps (the limit is 200000)") << body;
}

void expect_failure(const std::string& body, const std::string& part) {
  const std::string answer = run_small(body);
  EXPECT_TRUE(answer.starts_with("error: ")) << body << ": " << answer;
  EXPECT_NE(answer.find(part), std::string::npos) << body << ": " << answer;
}

double processor_seconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
}

// --- Bodies

TEST(Lua, RunsABody) {
  EXPECT_EQ(run("return 'a' .. 1"), "'a1'");
  EXPECT_EQ(run("local t = {} for i = 1, 3 do t[i] = i * i end return table.concat(t, ',')"), "'1,4,9'");
  EXPECT_EQ(run("return string.format('%05.1f|%s|%q', 3.14159, {}, 'x')"), "'003.1|table|\"x\"'");
  EXPECT_EQ(run("return ('héllo'):upper() .. utf8.len('héllo') .. #('héllo')"), "'HéLLO56'");
  EXPECT_EQ(run("return nil"), "null");
  EXPECT_EQ(run(""), "null");
  EXPECT_EQ(run("return 'first', 'second'"), "'first'");
}

TEST(Lua, ArgumentsAreLocals) {
  const TypePtr number = types::scalar(Kind::int_);
  const auto function = compiled({"ks.f", {"a", "b"}, {number, number}, number, "a = a or 10; return a + b"});
  const Bytes one = types::encode_int32(1), two = types::encode_int32(2);
  EXPECT_EQ(run(*function, {ValueView::of(one), ValueView::of(two)}, number), "3");
  EXPECT_EQ(run(*function, {ValueView::null(), ValueView::of(two)}, number), "12");
}

TEST(Lua, RefusesBodiesThatDoNotCompile) {
  const auto message = [](LuaFunction::Definition one) {
    const auto function = LuaFunction::compile(std::move(one));
    return function ? std::string("compiled") : function.error().message();
  };
  EXPECT_EQ(message(definition("return +")), "ks.f:1: unexpected symbol near '+'");
  EXPECT_EQ(message(definition("x = = 1")), "ks.f:1: unexpected symbol near '='");
  EXPECT_EQ(message(definition("\nreturn 1 end")), "ks.f:2: <eof> expected near 'end'");
  EXPECT_EQ(message(definition(std::string("\x1bLua\x54\0\x19\x93", 8))).substr(0, 15), "attempt to load");
  const TypePtr number = types::scalar(Kind::int_);
  EXPECT_EQ(message({"ks.f", {"end"}, {number}, number, "return 1"}),
            "'end' cannot be the name of a variable in Lua");
  EXPECT_EQ(message({"ks.f", {"a b"}, {number}, number, "return 1"}),
            "'a b' cannot be the name of a variable in Lua");
  EXPECT_NE(message(definition(std::string(300, '(') + "1" + std::string(300, ')'))), "compiled");
}

TEST(Lua, ErrorsAreFailures) {
  EXPECT_EQ(run("local x = nil\nreturn x.y"), "error: ks.f:2: attempt to index a nil value (local 'x')");
  EXPECT_EQ(run("error('boom')"), "error: ks.f:1: boom");
  EXPECT_EQ(run("error('boom', 0)"), "error: boom");
  EXPECT_EQ(run("error({code = 1})"), "error: (the error is a table value)");
  EXPECT_EQ(run("error(setmetatable({}, {__tostring = function() while true do end end}))"),
            "error: (the error is a table value)");
  EXPECT_EQ(run("error()"), "error: (the error is a nil value)");
  EXPECT_EQ(run("return 1 // 0"), "error: ks.f:1: attempt to divide by zero");
  EXPECT_EQ(run("local ok, message = pcall(error, 'inside') return message"), "'inside'");
  EXPECT_EQ(run("local ok, message = xpcall(function() error('x', 0) end, function(m) return m .. '!' end)"
                " return tostring(ok) .. message"),
            "'falsex!'");
  EXPECT_EQ(run("return select('#', pcall(function() return 1, 2, 3 end)) .. ''"), "'4'");
  const auto failed = compiled(definition("error('boom')"))->call({});
  EXPECT_EQ(failed.error().code(), base::ErrorCode::function_failure);
}

// --- The sandbox

TEST(LuaSandbox, HasNoAccessToTheSystem) {
  for (const char* name : {"io", "os", "package", "debug", "load", "loadstring", "loadfile", "dofile",
                           "require", "collectgarbage", "print", "warn", "rawset", "coroutine", "_G",
                           "string.dump", "math.random", "math.randomseed", "os"})
    EXPECT_EQ(run(std::string("return tostring(") + name + ")"), "'nil'") << name;
}

TEST(LuaSandbox, NothingSurvivesACall) {
  const auto counter = compiled(definition("n = (n or 0) + 1 return tostring(n)"));
  EXPECT_EQ(run(*counter), "'1'");
  EXPECT_EQ(run(*counter), "'1'");
  EXPECT_EQ(run("string.upper = nil return ('a'):upper()"), "error: ks.f:1: the libraries cannot be changed");
  EXPECT_EQ(run("string = {} return tostring(string.upper)"), "'nil'");
  EXPECT_EQ(run("getmetatable('').__index = nil"), "error: ks.f:1: attempt to index a boolean value");
  EXPECT_EQ(run("return tostring(getmetatable(string)) .. tostring(getmetatable(_ENV))"), "'falsefalse'");
  EXPECT_EQ(run("setmetatable(string, {})"), "error: ks.f:1: cannot change a protected metatable");
  EXPECT_EQ(run("setmetatable(_ENV, {})"), "error: ks.f:1: cannot change a protected metatable");
  EXPECT_EQ(run("table.insert(string, 1)"), "error: the libraries cannot be changed");
  EXPECT_EQ(run("return tostring(next(string))"), "'nil'");
}

TEST(LuaSandbox, ShowsNoAddresses) {
  EXPECT_EQ(run("return tostring({}) .. tostring(print) .. tostring(tostring)"), "'tablenilfunction'");
  EXPECT_EQ(run("return string.format('%s %10s', {}, tostring)"), "'table   function'");
  EXPECT_EQ(run("return string.format('%p', {})"), "error: ks.f:1: '%p' is not allowed in 'format'");
  EXPECT_EQ(run("return string.format('%-8p', {})"), "error: ks.f:1: '%p' is not allowed in 'format'");
  EXPECT_EQ(run("return string.format('100%%p')"), "'100%p'");
  EXPECT_EQ(run("return tostring(setmetatable({}, {__tostring = function() return 'mine' end}))"), "'mine'");
}

TEST(LuaSandbox, EndlessLoopsAreStopped) {
  expect_too_many_steps("while true do end");
  expect_too_many_steps("repeat until false");
  expect_too_many_steps("for i = 1, math.huge do end");
  expect_too_many_steps("::again:: goto again");
  expect_too_many_steps(
      "local t = setmetatable({}, {__index = function(t, k) return t[k + 1] or t[1] end})"
      " while true do local x = rawequal(t, 1) end");
}

TEST(LuaSandbox, PcallCannotCatchALimit) {
  expect_too_many_steps("while true do pcall(function() while true do end end) end");
  expect_too_many_steps("pcall(function() while true do end end) return 'done'");
  expect_too_many_steps(
      "while true do xpcall(function() while true do end end, function() return 1 end) end");
  expect_too_many_steps("xpcall(function() error('x') end, function() while true do end end) return 'done'");
  expect_too_many_steps("pcall(pcall, pcall, function() while true do end end) return 'done'");
  expect_too_many_steps(
      "local t = setmetatable({}, {__close = function() while true do end end})"
      " do local x <close> = t end return 'done'");
  expect_too_many_steps(
      "local x <close> = setmetatable({}, {__close = function() while true do end end})"
      " while true do end");
  expect_too_many_steps("table.sort({3, 2, 1, 5}, function() while true do end end)");
  expect_too_many_steps("return (('a'):gsub('a', function() while true do end end))");
}

TEST(LuaSandbox, FinalizersAreRefused) {
  expect_failure("setmetatable({}, {__gc = function() while true do end end})", "__gc");
  // A __gc field that is added later does not make a finalizer.
  EXPECT_EQ(
      run_small(
          "local m = {} for i = 1, 5000 do setmetatable({}, m) m.__gc = function() while true do end end"
          " m = {} end return 'done'"),
      "'done'");
}

TEST(LuaSandbox, MemoryHasALimit) {
  const std::string limit = "not enough memory (the limit is 1048576 bytes)";
  expect_failure("local t = {} for i = 1, 1e9 do t[i] = i end", limit);
  expect_failure("return ('x'):rep(1e9)", limit);
  expect_failure("return ('x'):rep(2e6)", limit);
  expect_failure("local s = 'x' while true do s = s .. s end", limit);
  expect_failure("return string.rep('ab', 1 << 62)", "too large");
  expect_failure("return table.concat({('x'):rep(400000), ('y'):rep(400000)}, ('z'):rep(100000))", limit);
  expect_failure("return (('x'):rep(1000):gsub('x', ('y'):rep(10000)))", limit);
  expect_failure("return string.pack('c100000000', 'x')", limit);
  expect_failure("local function f() return f() + 1 end return f()", limit);
  EXPECT_EQ(run_small("local ok = pcall(function() return ('x'):rep(1e8) end) return tostring(ok)"),
            "'false'");
}

TEST(LuaSandbox, AllocationCostsSteps) {
  expect_too_many_steps("while true do local s = ('x'):rep(400000) end");
  expect_too_many_steps("while true do pcall(string.rep, 'x', 400000) end");
}

TEST(LuaSandbox, LibraryCallsCostSteps) {
  expect_too_many_steps("return (('a'):rep(30000):find(('a-'):rep(60) .. 'b'))");
  expect_too_many_steps("return (('a'):rep(200):match(('a*'):rep(40) .. 'b'))");
  expect_too_many_steps("return (('a'):rep(30000):gsub('.-b', ''))");
  expect_too_many_steps("for _ in (('a'):rep(30000)):gmatch('a-b') do end");
  expect_too_many_steps("return (('('):rep(100000):find('%b()'))  or (('('):rep(1000):gsub('%b()', ''))");
  expect_too_many_steps("table.move({}, 1, math.maxinteger - 1, 2)");
  expect_too_many_steps("local s = ('a'):rep(300000) while true do s:find('b', 1, true) end");
  expect_too_many_steps(
      "local a = ('a'):rep(300000) local b, t = a .. 'b', {} "
      "for i = 1, 2000 do t[i] = i % 2 == 0 and a or b end table.sort(t) return 1");
  expect_too_many_steps("local s = ('a'):rep(300000) while true do utf8.len(s) end");
  expect_too_many_steps("local s = ('1'):rep(300000) while true do tonumber(s) end");
  expect_too_many_steps("local s = ('a'):rep(300000) while true do rawequal(s, s) end");
  expect_too_many_steps("local s = ('a'):rep(20000) while true do s:byte(1, -1) end");
  expect_too_many_steps("while true do table.unpack({}, 1, 20000) end");
  expect_failure("table.insert(setmetatable({}, {__len = function() return 1 << 40 end}), 1, 1)", "__len");
  expect_failure("table.remove(setmetatable({}, {__len = function() return 1 << 40 end}), 1)", "__len");
  expect_failure("table.sort(setmetatable({}, {__len = function() return 1 << 30 end}), rawequal)", "__len");
  expect_failure("return table.unpack({}, 1, 1e8)", "too many results");
  EXPECT_EQ(run_small("return string.rep('', 1 << 60)"), "''");
  expect_failure("return (('a'):rep(500):find(('(a'):rep(30) .. (')'):rep(30) .. ('a?'):rep(300)))",
                 "too complex");
}

TEST(LuaSandbox, ProcessorTimeHasALimit) {
  LuaLimits limits;
  limits.steps = INT64_MAX;
  limits.processor_nanos = 50'000'000;
  const auto function = compiled(definition("while true do end"), limits);
  EXPECT_EQ(run(*function), "error: the function took too long (the limit is 50 ms of processor time)");
  EXPECT_EQ(run(*function), "error: the function took too long (the limit is 50 ms of processor time)");
}

// One instruction may compare megabytes, so fewer instructions run between two checks of the clock.
TEST(Lua, TimeIsCheckedBetweenComparisonsOfLongTexts) {
  LuaLimits limits;
  limits.steps = INT64_MAX;
  limits.processor_nanos = 100'000'000;
  const std::string texts = "local a = ('a\\0'):rep(2000000) local b = a .. 'b' ";
  for (const char* loop :
       {"while true do local _ = a < b end", "while true do local _ = b == a .. 'b' end",
        "local t = {} for i = 1, 1000 do t[i] = i % 2 == 0 and a or b end table.sort(t)"}) {
    const auto function = compiled(definition(texts + loop), limits);
    const double before = processor_seconds();
    EXPECT_EQ(run(*function), "error: the function took too long (the limit is 100 ms of processor time)");
    EXPECT_LT(processor_seconds() - before, 0.4) << loop;
  }
}

// No instruction runs while a C function calls another, or while Lua collects garbage for an allocation that
// fails.
TEST(LuaSandbox, TimeLimitsHoldWithinATenth) {
  LuaLimits limits;
  limits.steps = INT64_MAX;
  limits.processor_nanos = 400'000'000;
  for (const char* body :
       {"local t = {} for i = 1, 5e5 do t[i] = 5e5 - i end while true do table.sort(t) end",
        "local t = {} for i = 1, 5e5 do t[i] = i ~ 0xffff end while true do table.sort(t, math.ult) end",
        "local t = setmetatable({}, {__index = rawlen, __newindex = type}) table.move(t, 1, 1e8, 2)",
        "local t = setmetatable({}, {__index = rawlen}) while true do table.concat(t, '', 1, 7e6) end",
        "local a, b = ('x'):rep(1500), ('y'):rep(1500) local function join() return a .. b end "
        "local l pcall(function() while true do l = {l} end end) for i = 1, 20 do l = l[1] end "
        "while true do pcall(join) end",
        "local m = {__close = function() while true do string.format('%99.99f', 1e308) end end} "
        "local function f(n) local x <close> = setmetatable({}, m) if n == 0 then while true do end end "
        "return 1 + f(n - 1) end return f(1000)",
        "local t = {} for i = 1, 5e5 do t[i] = i end for i = 1, 5e5 do t[i] = nil end "
        "setmetatable(t, {__close = pairs(t)}) "
        "local function f(n) local x <close> = t if n == 0 then while true do end end "
        "return 1 + f(n - 1) end return f(1000)",
        "local t = {} for i = 1, 5e5 do t[i] = i end for i = 1, 5e5 do t[i] = nil end "
        "while true do next(t) end",
        "while true do ('a'):rep(1000000):gsub('a', type) end"}) {
    const auto function = compiled(definition(body), limits);
    const double before = processor_seconds();
    EXPECT_EQ(run(*function), "error: the function took too long (the limit is 400 ms of processor time)")
        << body;
    EXPECT_LT(processor_seconds() - before, 0.44) << body;
  }
}

TEST(LuaSandbox, TablesAreMovedAndJoinedAsInLua) {
  const std::string numbers = "local t = {} for i = 1, 1000 do t[i] = i end ";
  EXPECT_EQ(run(numbers + "table.move(t, 1, 1000, 301) return t[300] .. ' ' .. t[301] .. ' ' .. t[1300]"),
            "'300 1 1000'");
  EXPECT_EQ(run(numbers + "table.move(t, 301, 1000, 1) return t[1] .. ' ' .. t[700] .. ' ' .. t[701]"),
            "'301 1000 701'");
  EXPECT_EQ(run(numbers + "local u = table.move(t, 1, 1000, 5, {}) return #t .. ' ' .. u[5] .. u[1004]"),
            "'1000 11000'");
  EXPECT_EQ(run("return #table.move({1, 2}, 2, 1, 5) .. ''"), "'2'");
  expect_failure("table.move({}, 1, math.maxinteger, 2)", "destination wrap around");
  expect_failure("table.move({}, 0, math.maxinteger, 2)", "too many elements to move");
  EXPECT_EQ(run(numbers + "return #table.concat(t, ', ') .. table.concat(t, '-', 255, 258)"),
            "'4891255-256-257-258'");
  EXPECT_EQ(run("return table.concat({}) .. table.concat({1, 2}, 'x', 2, 1) .. table.concat({1.5, 'a'})"),
            "'1.5a'");
  expect_failure("return table.concat({1, {}, 3})", "invalid value (table) at index 2 in table for 'concat'");
  EXPECT_EQ(run("local s = 0 for k, v in pairs({1, 2, x = 3}) do s = s + v end return s .. type(next({}))"),
            "'6nil'");
  EXPECT_EQ(run("local t = setmetatable({}, {__pairs = function() return function(_, k) if not k then "
                "return 1, 'own' end end end}) for k, v in pairs(t) do return v end"),
            "'own'");
}

TEST(Lua, AnInterruptEndsABody) {
  struct Gone : base::Interrupt {
    base::Status check() const override { return base::fail(base::ErrorCode::read_timeout, "gone"); }
  } interrupt;
  for (const char* body :
       {"while true do end", "while true do pcall(function() while true do end end) end"}) {
    const auto function = compiled(definition(body));
    const auto result = base::run_statement(&interrupt, [&] { return function->call({}); });
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code(), base::ErrorCode::read_timeout) << body;
  }
}

TEST(LuaSandbox, AFailureDoesNotAffectTheNextCall) {
  const TypePtr number = types::scalar(Kind::int_);
  const auto function = compiled(
      {"ks.f", {"a"}, {number}, number, "if a == 1 then while true do end end return a"}, small_limits());
  const Bytes one = types::encode_int32(1), two = types::encode_int32(2);
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(run(*function, {ValueView::of(one)}, number).starts_with("error"));
    EXPECT_EQ(run(*function, {ValueView::of(two)}, number), "2");
  }
}

TEST(LuaSandbox, DeepRecursionIsAnError) {
  EXPECT_EQ(run("local function f(n) return 1 + f(n + 1) end return f(1)"),
            "error: not enough memory (the limit is 16777216 bytes)");
  expect_failure("local function f() return select(-1, pcall(f)) end error(f())", "stack overflow");
  expect_failure(
      "local t = setmetatable({}, {}) getmetatable(t).__index = function(t, k) return t[k] end return t.x",
      "stack overflow");
}

TEST(LuaSandbox, ResultsHaveALimit) {
  const TypePtr list = types::list_of(types::scalar(Kind::text), false);
  EXPECT_EQ(run("local s, t = ('x'):rep(1 << 20), {} for i = 1, 1000 do t[i] = s end return t", list),
            "error: the result is too large");
  TypePtr nested = types::scalar(Kind::int_);
  for (int i = 0; i < 6; ++i) nested = types::list_of(types::freeze(nested), false);
  EXPECT_EQ(run("local t = 1 for i = 1, 6 do local n = {} for j = 1, 100 do n[j] = t end t = n end return t",
                nested),
            "error: the result is too large");
}

TEST(LuaSandbox, MessagesAreShortAndReadable) {
  EXPECT_EQ(run("error(('x'):rep(100000), 0)"), "error: " + std::string(1'000, 'x') + "...");
  EXPECT_EQ(run("error('a\\xffb', 0)"), "error: a?b");
  EXPECT_EQ(run("error('é', 0)"), "error: é");
}

TEST(LuaSandbox, ThreadsMayCallOneFunction) {
  const TypePtr number = types::scalar(Kind::int_);
  const auto function =
      compiled({"ks.f",
                {"a"},
                {number},
                number,
                "seen = seen or a local s = 0 for i = 1, a do s = s + i end return s + seen - a"});
  std::vector<std::thread> threads;
  std::atomic<int> wrong = 0;
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&] {
      for (int i = 1; i <= 200; ++i) {
        const Bytes argument = types::encode_int32(i);
        const ValueView view = ValueView::of(argument);
        const auto result = function->call(std::span(&view, 1));
        if (!result || !*result || **result != types::encode_int32(i * (i + 1) / 2)) ++wrong;
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

// --- Patterns, compared with Lua's manual and Lua's own matcher

TEST(LuaPatterns, FindAndMatch) {
  const auto answer = [](const std::string& expression) {
    return run("local t = table.pack(" + expression +
               ") for i = 1, t.n do t[i] = tostring(t[i]) end return table.concat(t, '|')");
  };
  EXPECT_EQ(answer("('hello world'):find('o w')"), "'5|7'");
  EXPECT_EQ(answer("('hello world'):find('l+')"), "'3|4'");
  EXPECT_EQ(answer("('hello'):find('(l)(l)')"), "'3|4|l|l'");
  EXPECT_EQ(answer("('hello'):find('')"), "'1|0'");
  EXPECT_EQ(answer("('hello'):find('', 10)"), "'nil'");
  EXPECT_EQ(answer("('hello'):find('', 6)"), "'6|5'");
  EXPECT_EQ(answer("('a.b'):find('.', 2, true)"), "'2|2'");
  EXPECT_EQ(answer("('a+b'):find('+', 1, true)"), "'2|2'");
  EXPECT_EQ(answer("('hello'):find('l', -2)"), "'4|4'");
  EXPECT_EQ(answer("('hello'):find('xyz')"), "'nil'");
  EXPECT_EQ(answer("('key = value'):match('^(%w+)%s*=%s*(%w+)$')"), "'key|value'");
  EXPECT_EQ(answer("('2024-01-02'):match('(%d+)-(%d+)-(%d+)')"), "'2024|01|02'");
  EXPECT_EQ(answer("('  trim  '):match('^%s*(.-)%s*$')"), "'trim'");
  EXPECT_EQ(answer("('abc'):match('()b()')"), "'2|3'");
  EXPECT_EQ(answer("('THE (quick) fox'):find('%((%a+)%)')"), "'5|11|quick'");
  EXPECT_EQ(answer("('f(a(b)c)d'):match('%b()')"), "'(a(b)c)'");
  EXPECT_EQ(answer("('THE (quick) fox'):find('%f[%a]%a+', 6)"), "'6|10'");
  EXPECT_EQ(answer("('\"quoted\"'):match('([\"\\'])(.-)%1')"), "'\"|quoted'");
  EXPECT_EQ(answer("('x]y'):match('[]]')"), "']'");
  EXPECT_EQ(answer("('x-y^z'):match('[%-^]+')"), "'-'");
  EXPECT_EQ(answer("('az09'):match('[a-c0-8]+')"), "'a'");
  EXPECT_EQ(answer("('az09'):match('[^a-z]+')"), "'09'");
  EXPECT_EQ(answer("('abcd'):match('a?b?x?c')"), "'abc'");
  EXPECT_EQ(answer("('a$'):match('$')"), "''");
  EXPECT_EQ(answer("('a$b'):match('a$b')"), "'a$b'");
}

TEST(LuaPatterns, SubstituteAndIterate) {
  EXPECT_EQ(run("return (('hello world'):gsub('o', '0'))"), "'hell0 w0rld'");
  EXPECT_EQ(run("local s, n = ('hello world'):gsub('%w+', '<%0>') return s .. n"), "'<hello> <world>2'");
  EXPECT_EQ(run("return (('hello world'):gsub('(%w+) (%w+)', '%2 %1'))"), "'world hello'");
  EXPECT_EQ(run("return (('abc'):gsub('', '-'))"), "'-a-b-c-'");
  EXPECT_EQ(run("return (('abc'):gsub('%w', {a = '1', b = true and 'B'}))"), "'1Bc'");
  EXPECT_EQ(run("return (('abc'):gsub('%w', function(c) if c == 'b' then return 'X' end end))"), "'aXc'");
  EXPECT_EQ(run("return (('abcabc'):gsub('b', 'X', 1))"), "'aXcabc'");
  EXPECT_EQ(run("return (('abc'):gsub('^a', 'x'))"), "'xbc'");
  EXPECT_EQ(run("return (('a'):gsub('a', '%%'))"), "'%'");
  EXPECT_EQ(run("return (('ab'):gsub('()b', '%1'))"), "'a2'");
  EXPECT_EQ(
      run("local t = {} for w in ('one two'):gmatch('%a+') do t[#t + 1] = w end return table.concat(t, ',')"),
      "'one,two'");
  EXPECT_EQ(run("local t = {} for k, v in ('a=1, b=2'):gmatch('(%w+)=(%w+)') do t[#t + 1] = k .. v end "
                "return table.concat(t, ',')"),
            "'a1,b2'");
  EXPECT_EQ(run("local n = 0 for _ in ('abc'):gmatch('') do n = n + 1 end return tostring(n)"), "'4'");
}

TEST(LuaPatterns, MalformedPatternsAreErrors) {
  expect_failure("return ('a'):match('[a')", "malformed pattern (missing ']')");
  expect_failure("return ('a'):match('[%')", "malformed pattern (missing ']')");
  expect_failure("return ('a'):match('%')", "malformed pattern (ends with '%')");
  expect_failure("return ('a'):match('(a')", "unfinished capture");
  expect_failure("return ('a'):match('a)')", "invalid pattern capture");
  expect_failure("return ('a'):match('%1')", "invalid capture index %1");
  expect_failure("return ('a'):match('%b')", "missing arguments to '%b'");
  expect_failure("return ('a'):match('%f')", "missing '[' after '%f'");
  expect_failure("return ('a'):gsub('a', '%2')", "invalid capture index %2");
  expect_failure("return ('a'):gsub('a', '%x')", "invalid use of '%'");
  expect_failure("return ('a'):gsub('a', true)", "string/function/table");
  expect_failure("return ('a'):gsub('a', function() return {} end)", "invalid replacement value (a table)");
  expect_failure("return ('a'):match(('()'):rep(40))", "too many captures");
}

// --- Values

Bytes literal(const TypePtr& type, std::string_view text) {
  const auto bytes = types::from_string(*type, text);
  EXPECT_TRUE(bytes) << text;
  return bytes ? *bytes : Bytes();
}

TEST(LuaValues, ScalarsRoundTrip) {
  const std::pair<Kind, std::vector<const char*>> samples[] = {
      {Kind::boolean, {"true", "false"}},
      {Kind::tinyint, {"-128", "0", "127"}},
      {Kind::smallint, {"-32768", "32767"}},
      {Kind::int_, {"-2147483648", "2147483647"}},
      {Kind::bigint, {"-9223372036854775808", "9223372036854775807", "9007199254740993"}},
      {Kind::varint, {"0", "-1", "9223372036854775808", "-123456789012345678901234567890"}},
      {Kind::decimal, {"1.50", "0", "-1E+10", "123456789012345678901234567890.000001"}},
      {Kind::float_, {"1.5", "-0.1"}},
      {Kind::double_, {"1.5", "0.1", "1e300"}},
      {Kind::text, {"", "héllo", "it's"}},
      {Kind::ascii, {"", "plain"}},
      {Kind::uuid, {"123e4567-e89b-12d3-a456-426614174000"}},
      {Kind::timeuuid, {"50554d6e-29bb-11e5-b345-feff819cdc9f"}},
      {Kind::inet, {"10.0.0.1", "::1"}},
      {Kind::timestamp, {"2020-01-01T00:00:00.123Z", "-1"}},
      {Kind::date, {"2020-02-29", "1969-12-31"}},
      {Kind::time, {"00:00:00", "23:59:59.999999999"}},
      {Kind::duration, {"1y2mo3d4h5m6s", "-3d"}},
  };
  for (const auto& [kind, texts] : samples)
    for (const char* text : texts) {
      const TypePtr& type = types::scalar(kind);
      const Bytes bytes = literal(type, text);
      EXPECT_EQ(echo(type, bytes), types::to_literal(*type, bytes)) << type->cql_name() << " " << text;
    }
  const Bytes blob("\0\xff\x01", 3);
  EXPECT_EQ(echo(types::scalar(Kind::blob), blob), "0x00ff01");
}

TEST(LuaValues, ArgumentsInLua) {
  const auto seen = [](Kind kind, const char* text, const char* expression) {
    const TypePtr& type = types::scalar(kind);
    const auto function =
        compiled({"ks.f", {"a"}, {type}, types::scalar(Kind::text), std::string("return ") + expression});
    const Bytes bytes = literal(type, text);
    return run(*function, {ValueView::of(bytes)});
  };
  EXPECT_EQ(seen(Kind::bigint, "9007199254740993", "math.type(a) .. a"), "'integer9007199254740993'");
  EXPECT_EQ(seen(Kind::varint, "5", "math.type(a) .. a"), "'integer5'");
  EXPECT_EQ(seen(Kind::varint, "9223372036854775808", "type(a) .. a"), "'string9223372036854775808'");
  EXPECT_EQ(seen(Kind::decimal, "1.50", "type(a) .. a .. (a + 1)"), "'string1.502.5'");
  EXPECT_EQ(seen(Kind::double_, "2", "math.type(a) .. a"), "'float2.0'");
  EXPECT_EQ(seen(Kind::timestamp, "1500", "math.type(a) .. a"), "'integer1500'");
  EXPECT_EQ(seen(Kind::date, "1970-01-11", "math.type(a) .. a"), "'integer10'");
  EXPECT_EQ(seen(Kind::time, "00:00:01", "math.type(a) .. a"), "'integer1000000000'");
  EXPECT_EQ(seen(Kind::duration, "1mo2d3ns", "a.months .. ',' .. a.days .. ',' .. a.nanoseconds"), "'1,2,3'");
  EXPECT_EQ(seen(Kind::inet, "::1", "a"), "'::1'");
}

TEST(LuaValues, AcceptedResults) {
  const auto returned = [](Kind kind, const std::string& expression) {
    return run("return " + expression, types::scalar(kind));
  };
  EXPECT_EQ(returned(Kind::int_, "3.0"), "3");
  EXPECT_EQ(returned(Kind::int_, "3.5"),
            "error: a value of type int must be an integer in Lua, not the number 3.5");
  EXPECT_EQ(returned(Kind::int_, "'3'"),
            "error: a value of type int must be an integer in Lua, not a string");
  EXPECT_EQ(returned(Kind::int_, "1 << 31"), "error: 2147483648 is out of range for type int");
  EXPECT_EQ(returned(Kind::tinyint, "128"), "error: 128 is out of range for type tinyint");
  EXPECT_EQ(returned(Kind::smallint, "-32769"), "error: -32769 is out of range for type smallint");
  EXPECT_EQ(returned(Kind::bigint, "1e18"), "1000000000000000000");
  EXPECT_EQ(returned(Kind::bigint, "1e19"),
            "error: a value of type bigint must be an integer in Lua, not the number 1e+19");
  EXPECT_EQ(returned(Kind::varint, "'123456789012345678901'"), "123456789012345678901");
  EXPECT_EQ(returned(Kind::decimal, "1.25"), "1.25");
  EXPECT_EQ(returned(Kind::decimal, "'1.250'"), "1.250");
  EXPECT_EQ(returned(Kind::double_, "1"), "1.0");
  EXPECT_EQ(returned(Kind::double_, "0/0"), "NaN");
  EXPECT_EQ(returned(Kind::boolean, "1"),
            "error: a value of type boolean must be a boolean in Lua, not the number 1");
  EXPECT_EQ(returned(Kind::text, "1"),
            "error: a value of type text must be a string in Lua, not the number 1");
  EXPECT_TRUE(returned(Kind::text, "'\\xff'").starts_with("error: "));
  EXPECT_TRUE(returned(Kind::ascii, "'é'").starts_with("error: "));
  EXPECT_TRUE(returned(Kind::uuid, "'nope'").starts_with("error: "));
  EXPECT_TRUE(returned(Kind::time, "-1").starts_with("error: "));
  EXPECT_EQ(returned(Kind::timestamp, "'2020-01-01'"), returned(Kind::timestamp, "1577836800000"));
  EXPECT_EQ(returned(Kind::date, "'2020-01-01'"), "'2020-01-01'");
  EXPECT_EQ(returned(Kind::duration, "{days = 3}"), "3d");
  EXPECT_EQ(returned(Kind::duration, "'3d'"), "3d");
  EXPECT_TRUE(returned(Kind::duration, "{days = 1, months = -1}").starts_with("error: "));
  EXPECT_EQ(returned(Kind::text, "{}"), "error: a value of type text must be a string in Lua, not a table");
  EXPECT_EQ(returned(Kind::text, "tostring"),
            "error: a value of type text must be a string in Lua, not a function");
}

TEST(LuaValues, Composites) {
  const TypePtr number = types::scalar(Kind::int_), text = types::scalar(Kind::text);
  const TypePtr list = types::list_of(number, false), set = types::set_of(text, false);
  const TypePtr map = types::map_of(text, number, false), tuple = types::tuple_of({number, text});
  const TypePtr udt = types::udt_of("ks", "point", {"x", "y"}, {number, text}, false);
  const TypePtr vector = types::vector_of(types::scalar(Kind::float_), 2);
  EXPECT_EQ(run("return {1, 2, 3}", list), "[1, 2, 3]");
  EXPECT_EQ(run("return {}", list), "[]");
  EXPECT_EQ(run("return {'b', 'a', 'b'}", set), "{'a', 'b'}");
  EXPECT_EQ(run("return {b = 2, a = 1}", map), "{'a': 1, 'b': 2}");
  EXPECT_EQ(run("return {1, 'x'}", tuple), "(1, 'x')");
  EXPECT_EQ(run("return {nil, 'x'}", tuple), "(null, 'x')");
  EXPECT_EQ(run("return {y = 'z'}", udt), "{x: null, y: 'z'}");
  EXPECT_EQ(run("return {1.5, 2}", vector), "[1.5, 2.0]");
  EXPECT_EQ(run("return {{1}, {}}", types::list_of(types::freeze(list), false)), "[[1], []]");
  EXPECT_TRUE(run("return {1, nil, 3}", list).starts_with("error: "));
  EXPECT_TRUE(run("return {a = 1}", list).starts_with("error: "));
  EXPECT_TRUE(run("return {'a'}", list).starts_with("error: "));
  EXPECT_TRUE(run("return {1}", vector).starts_with("error: "));
  EXPECT_TRUE(run("return {1, 2, 3}", tuple).starts_with("error: "));
  EXPECT_TRUE(run("return {z = 1}", udt).starts_with("error: "));
  EXPECT_TRUE(run("return 5", map).starts_with("error: "));
  for (const auto& [type, body] :
       std::initializer_list<std::pair<TypePtr, const char*>>{{list, "return {3, 1}"},
                                                              {set, "return {'x', 'y'}"},
                                                              {map, "return {k = 7}"},
                                                              {tuple, "return {1}"},
                                                              {udt, "return {x = 4, y = 'q'}"},
                                                              {vector, "return {0.5, -1}"}}) {
    const auto made = compiled(definition(body, type))->call({});
    ASSERT_TRUE(made && *made);
    EXPECT_EQ(echo(type, **made), types::to_literal(*type, **made));
  }
  const auto made = compiled(definition("return {a = 1, b = 2}", map))->call({});
  EXPECT_EQ(echo(map, **made, "a.b = nil a.c = #'xyz' return a"), "{'a': 1, 'c': 3}");
}

}  // namespace
}  // namespace sibyl::plan
