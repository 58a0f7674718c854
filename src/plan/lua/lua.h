// User-defined functions in Lua: compiled once, called by any thread.
//
// docs/functions.md describes what a body may do and how it sees CQL values.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "base/result.h"
#include "plan/lua/machine.h"
#include "types/value.h"

namespace sibyl::plan {

class LuaFunction {
 public:
  struct Definition {
    std::string name;  // for messages
    std::vector<std::string> argument_names;
    std::vector<types::TypePtr> argument_types;
    types::TypePtr returns;
    std::string body;
  };

  // Compiles the body. Errors explain what is wrong with the names or the body.
  static base::Result<std::shared_ptr<const LuaFunction>> compile(Definition definition,
                                                                  LuaLimits limits = {});

  ~LuaFunction();

  // Returns nullopt for null. Thread-safe: every running call has an interpreter of its own. Errors are
  // function failures with only the message; the caller adds the function's name.
  base::Result<std::optional<base::Bytes>> call(std::span<const types::ValueView> arguments) const;

 private:
  LuaFunction(Definition definition, LuaLimits limits, std::string source)
      : definition_(std::move(definition)), limits_(limits), source_(std::move(source)) {}
  base::Result<std::unique_ptr<LuaMachine>> take_machine() const;
  void give_back(std::unique_ptr<LuaMachine> machine) const;

  static constexpr size_t max_idle_machines = 16;
  // Limit for all functions together. The first interpreter of each function is always kept.
  static constexpr int64_t max_idle_total = 256;

  Definition definition_;
  LuaLimits limits_;
  std::string source_;
  mutable base::Mutex mutex_;
  mutable std::vector<std::unique_ptr<LuaMachine>> idle_ SIBYL_GUARDED_BY(mutex_);
};

}  // namespace sibyl::plan
