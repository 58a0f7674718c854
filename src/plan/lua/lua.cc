#include "plan/lua/lua.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>

namespace sibyl::plan {

namespace {

std::atomic<int64_t> idle_machines = 0;  // in all functions

constexpr std::array<std::string_view, 22> lua_keywords = {
    "and", "break", "do",  "else", "elseif", "end",    "false",  "for",  "function", "goto",  "if",
    "in",  "local", "nil", "not",  "or",     "repeat", "return", "then", "true",     "until", "while"};

bool is_lua_name(std::string_view name) {
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  return !name.empty() && !is_digit(name[0]) &&
         std::all_of(name.begin(), name.end(), [&](char c) { return is_letter(c) || is_digit(c); }) &&
         std::find(lua_keywords.begin(), lua_keywords.end(), name) == lua_keywords.end();
}

// Declares the arguments as locals on the body's first line, so that the body's line numbers stay correct.
base::Result<std::string> source_of(const LuaFunction::Definition& definition) {
  for (const std::string& name : definition.argument_names)
    if (!is_lua_name(name))
      return base::invalid(fmt::format("'{}' cannot be the name of a variable in Lua", name));
  if (definition.argument_names.empty()) return definition.body;
  return fmt::format("local {}=...;{}", fmt::join(definition.argument_names, ","), definition.body);
}

}  // namespace

base::Result<std::shared_ptr<const LuaFunction>> LuaFunction::compile(Definition definition,
                                                                      LuaLimits limits) {
  SIBYL_ASSIGN(std::string source, source_of(definition));
  std::shared_ptr<LuaFunction> function(new LuaFunction(std::move(definition), limits, std::move(source)));
  SIBYL_ASSIGN(std::unique_ptr<LuaMachine> machine, function->take_machine());
  function->give_back(std::move(machine));
  return function;
}

base::Result<std::unique_ptr<LuaMachine>> LuaFunction::take_machine() const {
  {
    const base::MutexLock lock(mutex_);
    if (!idle_.empty()) {
      std::unique_ptr<LuaMachine> machine = std::move(idle_.back());
      idle_.pop_back();
      idle_machines.fetch_sub(1, std::memory_order_relaxed);
      return machine;
    }
  }
  auto machine = std::make_unique<LuaMachine>(limits_);
  SIBYL_TRY(machine->load(definition_.name, source_));
  return machine;
}

void LuaFunction::give_back(std::unique_ptr<LuaMachine> machine) const {
  if (!machine->is_reusable()) return;
  const base::MutexLock lock(mutex_);
  const bool is_many = idle_machines.load(std::memory_order_relaxed) >= max_idle_total;
  if (idle_.size() >= (is_many ? 1 : max_idle_machines)) return;
  idle_.push_back(std::move(machine));
  idle_machines.fetch_add(1, std::memory_order_relaxed);
}

LuaFunction::~LuaFunction() {
  idle_machines.fetch_sub(static_cast<int64_t>(idle_.size()), std::memory_order_relaxed);
}

base::Result<std::optional<base::Bytes>> LuaFunction::call(
    std::span<const types::ValueView> arguments) const {
  SIBYL_ASSIGN(std::unique_ptr<LuaMachine> machine, take_machine());
  auto result = machine->call(definition_.argument_types, arguments, *definition_.returns);
  give_back(std::move(machine));
  if (!result) return base::fail(base::ErrorCode::function_failure, result.error().message());
  return result;
}

}  // namespace sibyl::plan
