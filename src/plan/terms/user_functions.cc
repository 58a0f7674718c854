#include "plan/terms/user_functions.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "base/mutex.h"
#include "plan/java/java.h"
#include "plan/lua/lua.h"

namespace sibyl::plan {

using base::invalid;
using schema::UserAggregatePtr;
using schema::UserFunctionPtr;

namespace {

// Lua's own messages begin with the function's name. Messages about limits and results do not. Java's messages name the exception.
base::Error failure_of(const Function& function, const std::string& message) {
  if (function.java) return function_failure(function, message);
  const std::string name = function.qualified_name() + ":";
  return function_failure(function, message.starts_with(name) ? message : name + " " + message);
}

// Returns nullopt for null.
base::Result<std::optional<Bytes>> call_body(const Function& function, std::span<const ValueView> arguments) {
  auto result = function.java ? function.java->call(arguments) : function.lua->call(arguments);
  if (!result) return base::fail(failure_of(function, result.error().message()));
  return result;
}

base::Result<ValueView> evaluate(const Function& function, std::span<const ValueView> arguments,
                                 const Bindings&, Scratch& scratch) {
  SIBYL_ASSIGN(std::optional<Bytes> result, call_body(function, arguments));
  return result ? kept(scratch, std::move(*result)) : ValueView::null();
}

// Folds rows into the state: one call of the state function per row.
class UserAccumulator final : public Accumulator {
 public:
  explicit UserAccumulator(const UserAggregation& aggregation)
      : aggregation_(aggregation), state_(aggregation.initial) {}

  base::Status add(std::span<const ValueView> arguments) override {
    std::vector<ValueView> values = {view(state_)};
    values.insert(values.end(), arguments.begin(), arguments.end());
    const Function& function = *aggregation_.state;
    if (!function.takes_nulls &&
        std::any_of(values.begin(), values.end(), [](const ValueView& value) { return !value.is_present(); }))
      return {};
    SIBYL_ASSIGN(state_, call_body(function, values));
    return {};
  }

  base::Result<ValueView> result() override {
    if (aggregation_.final == nullptr) return view(state_);
    const ValueView state = view(state_);
    if (state.is_null() && !aggregation_.final->takes_nulls) return state;
    SIBYL_ASSIGN(result_, call_body(*aggregation_.final, std::span(&state, 1)));
    return view(result_);
  }

 private:
  static ValueView view(const std::optional<Bytes>& bytes) {
    return bytes ? ValueView::of(*bytes) : ValueView::null();
  }
  const UserAggregation& aggregation_;
  std::optional<Bytes> state_, result_;
};

std::unique_ptr<Accumulator> accumulate(const Function& function) {
  return std::make_unique<UserAccumulator>(*function.aggregation);
}

// Compiles the body into function.lua or function.java.
base::Status compile(const schema::UserFunction& definition, Function& function) {
  if (definition.language == "java") {
    SIBYL_ASSIGN(function.java, JavaFunction::compile({definition.argument_names, definition.argument_types,
                                                       definition.return_type,
                                                       definition.called_on_null_input, definition.body}));
  } else {
    SIBYL_ASSIGN(function.lua,
                 LuaFunction::compile({fmt::format("{}.{}", definition.keyspace, definition.name),
                                       definition.argument_names, definition.argument_types,
                                       definition.return_type, definition.body}));
  }
  return {};
}

// Compiled functions by definition, for the whole process, shared by the plans of all statements. A
// definition that no schema or plan holds any more is removed at the next miss.
class CompiledFunctions {
 public:
  static CompiledFunctions& instance() {
    static CompiledFunctions compiled;
    return compiled;
  }

  base::Result<FunctionPtr> get(const UserFunctionPtr& definition) {
    {
      const base::MutexLock lock(mutex_);
      const auto found = functions_.find(definition.get());
      if (found != functions_.end() && found->second.definition.lock() == definition)
        return found->second.function;
    }
    auto function = std::make_shared<Function>();
    SIBYL_TRY(compile(*definition, *function));
    function->keyspace = definition->keyspace;
    function->name = definition->name;
    function->arguments = definition->argument_types;
    function->returns = definition->return_type;
    function->takes_nulls = definition->called_on_null_input;
    function->evaluate = evaluate;
    function->is_pure = false;
    const base::MutexLock lock(mutex_);
    std::erase_if(functions_, [](const auto& entry) { return entry.second.definition.expired(); });
    functions_[definition.get()] = {definition, function};
    return function;
  }

 private:
  struct Entry {
    std::weak_ptr<const schema::UserFunction> definition;
    FunctionPtr function;
  };
  base::Mutex mutex_;
  std::unordered_map<const schema::UserFunction*, Entry> functions_ SIBYL_GUARDED_BY(mutex_);
};

// Calls `visit` for every overload of a name in a map by signature.
template <typename Map, typename Visit>
void for_overloads(const Map& map, const std::string& name, Visit visit) {
  const std::string prefix = name + "(";
  for (auto at = map.lower_bound(prefix); at != map.end() && at->first.starts_with(prefix); ++at)
    if (at->second->name == name) visit(at->second);
}

void add_use(const schema::Snapshot& schema, const std::string& keyspace, const std::string& name,
             std::vector<FunctionUse>& uses) {
  const bool is_known = std::any_of(uses.begin(), uses.end(), [&](const FunctionUse& use) {
    return use.name == name && use.keyspace == keyspace;
  });
  if (!is_known) uses.push_back({keyspace, name, overloads_of(schema, keyspace, name)});
}

base::Result<FunctionPtr> part_of(const schema::Keyspace& keyspace, const std::string& name,
                                  const std::vector<types::TypePtr>& argument_types) {
  const auto found = keyspace.functions.find(schema::signature_of(name, argument_types));
  if (found == keyspace.functions.end())
    return invalid(fmt::format("Unknown function '{}.{}'", keyspace.name, name));
  return CompiledFunctions::instance().get(found->second);
}

base::Result<FunctionPtr> make_aggregate(const schema::Keyspace& keyspace,
                                         const UserAggregatePtr& definition) {
  auto aggregation = std::make_shared<UserAggregation>();
  std::vector<types::TypePtr> state_arguments = {definition->state_type};
  state_arguments.insert(state_arguments.end(), definition->argument_types.begin(),
                         definition->argument_types.end());
  SIBYL_ASSIGN(aggregation->state, part_of(keyspace, definition->state_function, state_arguments));
  if (!definition->final_function.empty()) {
    SIBYL_ASSIGN(aggregation->final, part_of(keyspace, definition->final_function, {definition->state_type}));
  }
  aggregation->initial = definition->initial_condition;
  auto function = std::make_shared<Function>();
  function->keyspace = definition->keyspace;
  function->name = definition->name;
  function->arguments = definition->argument_types;
  function->returns = definition->return_type;
  function->accumulate = accumulate;
  function->is_pure = false;
  function->aggregation = std::move(aggregation);
  return function;
}

}  // namespace

bool is_function_language(std::string_view language) {
  return language == "lua" || language == "java";
}

base::Status check_body(const schema::UserFunction& function) {
  Function compiled;
  return compile(function, compiled);
}

std::vector<std::shared_ptr<const void>> overloads_of(const schema::Snapshot& schema,
                                                      const std::string& keyspace, const std::string& name) {
  std::vector<std::shared_ptr<const void>> overloads;
  const schema::KeyspacePtr found = schema.find_keyspace(keyspace);
  if (found == nullptr) return overloads;
  const auto add = [&](const auto& definition) { overloads.push_back(definition); };
  for_overloads(found->functions, name, add);
  for_overloads(found->aggregates, name, add);
  return overloads;
}

base::Result<std::vector<FunctionPtr>> user_functions(const schema::Snapshot& schema,
                                                      const std::string& keyspace, const std::string& name,
                                                      std::vector<FunctionUse>& uses) {
  std::vector<FunctionPtr> functions;
  const schema::KeyspacePtr found = schema.find_keyspace(keyspace);
  if (found == nullptr) return functions;
  add_use(schema, keyspace, name, uses);
  std::vector<UserFunctionPtr> scalars;
  std::vector<UserAggregatePtr> aggregates;
  for_overloads(found->functions, name, [&](const UserFunctionPtr& one) { scalars.push_back(one); });
  for_overloads(found->aggregates, name, [&](const UserAggregatePtr& one) { aggregates.push_back(one); });
  for (const UserFunctionPtr& definition : scalars) {
    SIBYL_ASSIGN(FunctionPtr function, CompiledFunctions::instance().get(definition));
    functions.push_back(std::move(function));
  }
  for (const UserAggregatePtr& definition : aggregates) {
    add_use(schema, keyspace, definition->state_function, uses);
    if (!definition->final_function.empty()) add_use(schema, keyspace, definition->final_function, uses);
    SIBYL_ASSIGN(FunctionPtr function, make_aggregate(*found, definition));
    functions.push_back(std::move(function));
  }
  return functions;
}

}  // namespace sibyl::plan
