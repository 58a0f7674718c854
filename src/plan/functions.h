// Functions: the registry of what a statement may call, and how a call finds its signature.
//
// A Function is one signature: argument types, result type, and either an evaluation (scalar) or an
// accumulator (aggregate). Functions whose signature depends on the arguments (max of anything, map_keys,
// to_json, token, CAST) have a factory that makes the signature for a call. The registry's are of keyspace
// `system`; their names are lower case, the old spellings (`totimestamp`, `blobasint`) entries of their own.
// Users' functions are made from the schema (functions_user.h). Everything here is immutable.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "plan/term.h"

namespace sibyl::plan {

// Gathers the rows of one group. Not shared by threads.
class Accumulator {
 public:
  virtual ~Accumulator() = default;
  virtual base::Status add(std::span<const ValueView> arguments) = 0;
  // The view lives until the next add() or result().
  virtual base::Result<ValueView> result() = 0;
};

class LuaFunction;       // lua.h
struct UserAggregation;  // functions_user.h

struct Function {
  using Evaluate = base::Result<ValueView> (*)(const Function& function, std::span<const ValueView> arguments,
                                               const Bindings& bindings, Scratch& scratch);
  using Accumulate = std::unique_ptr<Accumulator> (*)(const Function& function);

  std::string name;
  std::vector<types::TypePtr> arguments;
  types::TypePtr returns;
  Evaluate evaluate = nullptr;
  Accumulate accumulate = nullptr;
  bool is_pure = true;       // same arguments, same result
  bool takes_nulls = false;  // else a null argument makes the result null, without a call
  bool takes_empty = false;  // of any type; else an empty number and the like is null to it
  bool from_factory = false;
  bool is_monotonic = false;  // keeps the order of its first argument
  std::string keyspace = "system";
  std::shared_ptr<const LuaFunction> lua;              // users' functions
  std::shared_ptr<const UserAggregation> aggregation;  // users' aggregates

  bool is_aggregate() const { return accumulate != nullptr; }
  std::string qualified_name() const { return keyspace + "." + name; }
  // `system.sum : (int) -> int`; arguments that are known to be constant are marked so.
  std::string signature(const std::vector<bool>& constants = {}) const;
};

// What a factory may look at.
struct FactoryCall {
  std::string_view name;
  std::vector<types::TypePtr> argument_types;  // as far as known; nullptr otherwise
  std::vector<std::string> argument_texts;     // for errors
  std::vector<size_t> array_sizes;             // of arguments that are written as [a, b, c]; else 0
  types::TypePtr receiver_type;                // nullptr in selections
  const schema::Table* table = nullptr;        // the statement's
};
using Factory = base::Result<FunctionPtr> (*)(const FactoryCall& call);

// What factories share: the function that a call is, and their refusals. `parameters`: as they are written in
// the function's signature.
std::shared_ptr<Function> make_function(const FactoryCall& call, std::vector<types::TypePtr> arguments,
                                        types::TypePtr returns, Function::Evaluate evaluate);
std::unexpected<base::Error> wrong_argument_count(const FactoryCall& call, std::string_view parameters);
std::unexpected<base::Error> unknown_argument_type(const FactoryCall& call, size_t index,
                                                   std::string_view parameters);

struct FunctionEntry {
  std::vector<FunctionPtr> functions;
  Factory factory = nullptr;
};

class FunctionRegistry {
 public:
  static const FunctionRegistry& instance();
  // nullptr when there is none.
  const FunctionEntry* find(std::string_view name) const;

  void add(Function function);
  void add_factory(std::string name, Factory factory);

 private:
  FunctionRegistry();
  std::vector<std::pair<std::string, FunctionEntry>> entries_;  // sorted by name
};

// The groups of functions, each in a file of its own.
void add_time_functions(FunctionRegistry& registry);
void add_conversion_functions(FunctionRegistry& registry);
void add_cast_functions(FunctionRegistry& registry);
void add_operations(FunctionRegistry& registry);
void add_math_functions(FunctionRegistry& registry);
void add_collection_functions(FunctionRegistry& registry);
void add_json_functions(FunctionRegistry& registry);
void add_mask_functions(FunctionRegistry& registry);
void add_aggregates(FunctionRegistry& registry);

// Arithmetic is a call of these.
const char* operation_name(cql::ArithmeticOperator op);  // "_add", ...
inline constexpr const char* negation_name = "_negate";
bool is_operation(std::string_view name);
char operation_symbol(std::string_view name);
// `cast_as_int`; empty when nothing casts to the type.
std::string cast_name(const types::Type& type);

// The error that a function's own failure is: code 0x1400.
base::Error function_failure(const Function& function, std::string message);

// min, max, sum or avg (by the end of `name`) over elements of one type.
std::unique_ptr<Accumulator> make_accumulator(std::string_view name, const types::TypePtr& element);

// A bound call. Pure calls of constants are evaluated once, here.
TermPtr make_call(FunctionPtr function, std::vector<TermPtr> arguments);

inline ValueView kept(Scratch& scratch, Bytes bytes) {
  return ValueView::of(scratch.keep(std::move(bytes)));
}

}  // namespace sibyl::plan
