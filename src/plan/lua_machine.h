// One Lua interpreter that runs one function, in a sandbox. Private to this room; lua.h is the way in.
//
// The sandbox: a table of globals of its own for every call (nothing survives a call), read-only libraries
// without a way to files, processes, time, chance, other code or the interpreter itself, and a budget of
// steps, memory and processor time that no pcall can outlive. Lua is the build that throws C++ exceptions, so
// destructors run. Not shared by threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "types/value.h"

struct lua_State;
struct lua_Debug;

namespace sibyl::plan {

// What one call may use.
struct LuaLimits {
  int64_t steps = 10'000'000;  // instructions, characters matched by patterns, 64ths of bytes allocated
  size_t memory_bytes = 16u << 20;
  int64_t processor_nanos = 1'000'000'000;
};

class LuaMachine {
 public:
  explicit LuaMachine(const LuaLimits& limits);
  ~LuaMachine();
  LuaMachine(const LuaMachine&) = delete;
  LuaMachine& operator=(const LuaMachine&) = delete;

  // The text of a function's body, its arguments already taken from `...`; `name` is what messages call it.
  base::Status load(const std::string& name, const std::string& source);

  // REQUIRES: load() went well. nullopt: null. Errors have Lua's message, or say which limit was met.
  base::Result<std::optional<base::Bytes>> call(std::span<const types::TypePtr> argument_types,
                                                std::span<const types::ValueView> arguments,
                                                const types::Type& returns);

  // Whether it may be used again: no limit was met, and it does not hold much memory.
  bool is_reusable() const;

  // --- For the functions that Lua calls.
  static LuaMachine& of(lua_State* lua);
  // Takes steps from the budget; raises a Lua error when there are none left, when the time is up, or when
  // the statement is to end.
  void charge(lua_State* lua, int64_t steps);
  // The same for a function that looks at so many bytes.
  void charge_bytes(lua_State* lua, size_t bytes) { charge(lua, 1 + static_cast<int64_t>(bytes / 64)); }
  // Once a limit was met every error goes through to the top.
  bool is_exhausted() const { return exhausted_ != nullptr; }

 private:
  static void* allocate(void* self, void* block, size_t old_size, size_t new_size);
  static void count(lua_State* lua, lua_Debug*);
  void renew();
  bool may_grow(size_t growth);
  void look_more_often(size_t block);
  const char* find_exhausted();
  void exhaust(const char* limit);
  base::Error failure() const;

  LuaLimits limits_;
  int64_t steps_left_ = 0;
  int64_t deadline_nanos_ = 0;  // of the thread's processor time; 0: most calls end before anyone asks
  int64_t looked_at_ = 0;       // the coarse clock when the processor's was read last
  int hook_interval_ = 0;       // instructions between two looks at the budget; 0: nothing runs
  size_t memory_used_ = 0;
  const char* exhausted_ = nullptr;  // which limit was met
  lua_State* lua_ = nullptr;
};

}  // namespace sibyl::plan
