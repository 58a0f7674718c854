// One Lua interpreter that runs one function in a sandbox. Internal to src/plan/lua; use lua.h.
//
// The sandbox gives every call a fresh table of globals, so nothing survives a call. Its libraries are
// read-only and give no access to files, processes, time, randomness, other code or the interpreter. A budget
// of steps, memory and processor time cannot be escaped with pcall. Lua is built to throw C++ exceptions, so
// destructors run. Not thread-safe.
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

// The limits of one call.
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

  // Loads the text of a function's body, which reads its arguments from `...`. Messages use `name`.
  base::Status load(const std::string& name, const std::string& source);

  // REQUIRES: load() succeeded. Returns nullopt for null. Errors have Lua's message or name the exceeded
  // limit.
  base::Result<std::optional<base::Bytes>> call(std::span<const types::TypePtr> argument_types,
                                                std::span<const types::ValueView> arguments,
                                                const types::Type& returns);

  // True if it can be used again: no limit was exceeded and it does not hold much memory.
  bool is_reusable() const;

  // --- For the functions that Lua calls.
  static LuaMachine& of(lua_State* lua);
  // Takes steps from the budget. Raises a Lua error if the budget is used up, the time is over, or the
  // statement must end.
  void charge(lua_State* lua, int64_t steps);
  // Charges for a function that reads `bytes` bytes.
  void charge_bytes(lua_State* lua, size_t bytes) { charge(lua, 1 + static_cast<int64_t>(bytes / 64)); }
  // Once a limit was exceeded, every error propagates to the top.
  bool is_exhausted() const { return exhausted_ != nullptr; }

 private:
  static void* allocate(void* self, void* block, size_t old_size, size_t new_size);
  static void count(lua_State* lua, lua_Debug*);
  void renew();
  bool may_grow(size_t growth);
  void check_more_often(size_t block);
  const char* find_exhausted();
  void exhaust(const char* limit);
  base::Error failure() const;

  LuaLimits limits_;
  int64_t steps_left_ = 0;
  int64_t deadline_nanos_ =
      0;  // in the processor time of the thread; 0: not read yet, since most calls end before the first check
  int64_t clock_read_at_ = 0;  // the coarse clock at the last read of the processor time
  int hook_interval_ = 0;      // instructions between two checks of the budget; 0: no call is running
  size_t memory_used_ = 0;
  const char* exhausted_ = nullptr;  // the limit that was exceeded
  lua_State* lua_ = nullptr;
};

}  // namespace sibyl::plan
