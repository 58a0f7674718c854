#include "plan/lua/machine.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <lua.hpp>

#include "base/check.h"
#include "base/statement.h"
#include "plan/lua/library.h"
#include "plan/lua/values.h"
#include "types/validate.h"

namespace sibyl::plan {

namespace {

// Instructions between two checks of the budget. One instruction may compare, hash or convert a whole block.
// So the number is smaller if there are large blocks: at most bytes_between_checks are touched between two
// checks.
constexpr int hook_interval = 1'000;
constexpr size_t bytes_between_checks = 4u << 20;
constexpr size_t small_allocation = 4'096;  // larger allocations check the budget themselves
constexpr size_t bytes_per_step = 64;
constexpr size_t idle_memory_bytes = 1u << 20;

constexpr const char* too_many_steps = "the function took too many steps";
constexpr const char* too_long = "the function took too long";
constexpr const char* interrupted = "the statement was stopped";

int64_t processor_nanos() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

// Accurate to some milliseconds, but without a system call.
int64_t coarse_nanos() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC_COARSE, &time);
  return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

// A message from a body, limited in length and converted to UTF-8 for clients.
std::string readable(std::string_view text) {
  constexpr size_t max_message = 1'000;
  std::string message(text.substr(0, max_message));
  const bool is_cut = text.size() > max_message;
  const types::TypePtr& type = types::scalar(types::Kind::text);
  if (is_cut || !types::validate(*type, message))
    for (char& c : message)
      if (static_cast<unsigned char>(c) >= 0x80) c = '?';
  return is_cut ? message + "..." : message;
}

// Runs `body(lua)` in protected mode. Values that it pushes are lost; an error object stays on the stack.
template <typename Body>
int run_protected(lua_State* lua, Body& body) {
  const auto run = [](lua_State* inner) {
    (*static_cast<Body*>(lua_touserdata(inner, 1)))(inner);
    return 0;
  };
  lua_pushcfunction(lua, run);
  lua_pushlightuserdata(lua, &body);
  return lua_pcall(lua, 1, 0, 0);
}

}  // namespace

LuaMachine::LuaMachine(const LuaLimits& limits) : limits_(limits) {
  renew();
  lua_ = lua_newstate(allocate, this);
  if (lua_ == nullptr) return;
  *static_cast<LuaMachine**>(lua_getextraspace(lua_)) = this;
  auto open = [](lua_State* lua) { open_lua_library(lua); };
  if (run_protected(lua_, open) != LUA_OK) {
    lua_close(lua_);
    lua_ = nullptr;
  }
}

LuaMachine::~LuaMachine() {
  if (lua_ != nullptr) lua_close(lua_);
}

LuaMachine& LuaMachine::of(lua_State* lua) {
  return **static_cast<LuaMachine**>(lua_getextraspace(lua));
}

void LuaMachine::renew() {
  steps_left_ = limits_.steps;
  deadline_nanos_ = 0;
  clock_read_at_ = 0;
  exhausted_ = nullptr;
}

bool LuaMachine::is_reusable() const {
  return lua_ != nullptr && exhausted_ == nullptr && memory_used_ < idle_memory_bytes;
}

void* LuaMachine::allocate(void* self, void* block, size_t old_size, size_t new_size) {
  auto& machine = *static_cast<LuaMachine*>(self);
  if (block == nullptr) old_size = 0;  // a new block has no old size: Lua passes the kind of object there
  if (new_size > old_size && !machine.may_grow(new_size - old_size)) return nullptr;
  void* moved = new_size == 0 ? nullptr : std::realloc(block, new_size);
  if (new_size == 0) {
    std::free(block);
  } else if (moved == nullptr) {
    return nullptr;
  }
  const auto change = static_cast<int64_t>(new_size) - static_cast<int64_t>(old_size);
  machine.memory_used_ += static_cast<size_t>(change);
  base::memory::thread_state.used += change;
  base::memory::count_large(change);
  if (new_size > small_allocation) machine.check_more_often(new_size);
  return moved;
}

bool LuaMachine::may_grow(size_t growth) {
  if (growth > limits_.memory_bytes - std::min(memory_used_, limits_.memory_bytes)) {
    // After this error Lua collects garbage in all its memory, and the body may catch the error and try
    // again.
    steps_left_ -= static_cast<int64_t>(memory_used_ / bytes_per_step);
    check_more_often(bytes_between_checks);
    return false;
  }
  steps_left_ -= static_cast<int64_t>(growth / bytes_per_step);
  if (growth <= small_allocation) return true;
  if (steps_left_ < 0) exhaust(too_many_steps);
  const bool is_server_full =
      base::memory_in_use() + static_cast<int64_t>(growth) > base::memory_limits().total_bytes;
  return steps_left_ >= 0 && !is_server_full;
}

void LuaMachine::check_more_often(size_t block) {
  const auto interval = static_cast<int>(std::max<size_t>(bytes_between_checks / block, 1));
  if (interval >= hook_interval_) return;
  hook_interval_ = interval;
  lua_sethook(lua_, count, LUA_MASKCOUNT, interval);
}

// From now on every instruction checks the budget: __close handlers run while the error unwinds.
void LuaMachine::exhaust(const char* limit) {
  exhausted_ = limit;
  check_more_often(bytes_between_checks);
}

void LuaMachine::count(lua_State* lua, lua_Debug*) {
  of(lua).charge(lua, of(lua).hook_interval_);
}

// Reads the processor clock only when the coarse clock has advanced, because reading it takes longer than
// most calls of this function.
const char* LuaMachine::find_exhausted() {
  if (steps_left_ < 0) return too_many_steps;
  const int64_t looked_at = coarse_nanos();
  if (looked_at == clock_read_at_) return nullptr;
  clock_read_at_ = looked_at;
  const int64_t now = processor_nanos();
  if (deadline_nanos_ == 0) deadline_nanos_ = now + limits_.processor_nanos;
  if (now > deadline_nanos_) return too_long;
  try {
    base::check_interrupt();
  } catch (const base::StatementEnded&) {
    return interrupted;  // a body must not catch it: call() throws it again
  }
  return nullptr;
}

void LuaMachine::charge(lua_State* lua, int64_t steps) {
  if (exhausted_ == nullptr) {
    steps_left_ -= steps;
    const char* limit = find_exhausted();
    if (limit == nullptr) return;
    exhaust(limit);
  }
  lua_pushnil(lua);  // not a string, because creating one may fail; failure() returns the text
  lua_error(lua);
}

base::Error LuaMachine::failure() const {
  if (exhausted_ == too_many_steps)
    return {base::ErrorCode::function_failure,
            fmt::format("{} (the limit is {})", exhausted_, limits_.steps)};
  if (exhausted_ == interrupted) return {base::ErrorCode::function_failure, exhausted_};
  if (exhausted_ != nullptr)
    return {base::ErrorCode::function_failure, fmt::format("{} (the limit is {} ms of processor time)",
                                                           exhausted_, limits_.processor_nanos / 1'000'000)};
  size_t size = 0;
  const int type = lua_type(lua_, -1);
  // Takes only strings, because converting other values runs code or allocates.
  const char* text = type == LUA_TSTRING ? lua_tolstring(lua_, -1, &size) : nullptr;
  if (text == nullptr)
    return {base::ErrorCode::function_failure,
            fmt::format("(the error is a {} value)", lua_typename(lua_, type))};
  std::string message = readable(std::string_view(text, size));
  if (message == "not enough memory")
    message += fmt::format(" (the limit is {} bytes)", limits_.memory_bytes);
  return {base::ErrorCode::function_failure, std::move(message)};
}

base::Status LuaMachine::load(const std::string& name, const std::string& source) {
  if (lua_ == nullptr)
    return base::fail(base::ErrorCode::overloaded, "Not enough memory for another Lua interpreter");
  const std::string chunk = "=" + name;
  auto load = [&](lua_State* lua) {
    if (luaL_loadbufferx(lua, source.data(), source.size(), chunk.c_str(), "t") != LUA_OK) lua_error(lua);
    lua_rawsetp(lua, LUA_REGISTRYINDEX, this);
  };
  if (run_protected(lua_, load) == LUA_OK) return {};
  base::Error error = failure();
  lua_settop(lua_, 0);
  return base::fail(std::move(error));
}

base::Result<std::optional<base::Bytes>> LuaMachine::call(std::span<const types::TypePtr> argument_types,
                                                          std::span<const types::ValueView> arguments,
                                                          const types::Type& returns) {
  SIBYL_CHECK(argument_types.size() == arguments.size());
  const base::UnlimitedMemory unlimited;  // Lua would swallow the exception; its own limit applies
  renew();
  base::Result<std::optional<base::Bytes>> result;
  auto run = [&](lua_State* lua) {
    luaL_checkstack(lua, static_cast<int>(arguments.size()) + 8, nullptr);
    lua_rawgetp(lua, LUA_REGISTRYINDEX, this);
    push_lua_globals(lua);
    // A body that uses no globals has no upvalue for them.
    if (lua_setupvalue(lua, -2, 1) == nullptr) lua_pop(lua, 1);
    for (size_t i = 0; i < arguments.size(); ++i) {
      if (arguments[i].is_present())
        push_lua_value(lua, *argument_types[i], arguments[i].bytes);
      else
        lua_pushnil(lua);
    }
    lua_call(lua, static_cast<int>(arguments.size()), 1);
    size_t budget = limits_.memory_bytes;
    result = read_lua_value(lua, returns, budget);
  };
  hook_interval_ = hook_interval;
  lua_sethook(lua_, count, LUA_MASKCOUNT, hook_interval);
  const int status = run_protected(lua_, run);
  hook_interval_ = 0;
  lua_sethook(lua_, nullptr, 0, 0);
  if (status != LUA_OK) result = base::fail(failure());
  lua_settop(lua_, 0);
  if (status != LUA_OK) base::check_interrupt();
  return result;
}

}  // namespace sibyl::plan
