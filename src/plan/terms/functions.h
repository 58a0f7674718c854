// Functions: the registry of callable functions, and the choice of a signature for a call.
//
// A Function is one signature: argument types, result type, and either an evaluation (scalar) or an
// accumulator (aggregate). Functions whose signature depends on the arguments (max of anything, map_keys,
// to_json, token, CAST) have a factory that makes the signature for a call. Functions in the registry belong
// to keyspace `system`. Their names are lower case, and old spellings (`totimestamp`, `blobasint`) are
// entries of their own. User-defined functions come from the schema (terms/user_functions.h). Everything here
// is immutable.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "plan/terms/term.h"

namespace sibyl::plan {

// Accumulates the rows of one group into a value. Not thread-safe.
class Accumulator {
 public:
  virtual ~Accumulator() = default;
  virtual base::Status add(std::span<const ValueView> arguments) = 0;
  // The view is valid until the next add() or result().
  virtual base::Result<ValueView> result() = 0;
};

class JavaFunction;      // java.h
class LuaFunction;       // lua.h
struct UserAggregation;  // terms/user_functions.h

struct Function {
  using Evaluate = base::Result<ValueView> (*)(const Function& function, std::span<const ValueView> arguments,
                                               const Bindings& bindings, Scratch& scratch);
  using Accumulate = std::unique_ptr<Accumulator> (*)(const Function& function);

  std::string name;
  std::vector<types::TypePtr> arguments;
  types::TypePtr returns;
  Evaluate evaluate = nullptr;
  Accumulate accumulate = nullptr;
  bool is_pure = true;       // the same arguments always give the same result
  bool takes_nulls = false;  // if false, a null argument gives null without a call
  bool takes_empty = false;  // if false, empty arguments of types like int count as null
  bool from_factory = false;
  bool is_monotonic = false;  // preserves the order of its first argument
  std::string keyspace = "system";
  std::shared_ptr<const LuaFunction> lua;              // user-defined functions LANGUAGE lua
  std::shared_ptr<const JavaFunction> java;            // user-defined functions LANGUAGE java
  std::shared_ptr<const UserAggregation> aggregation;  // user-defined aggregates

  bool is_aggregate() const { return accumulate != nullptr; }
  std::string qualified_name() const { return keyspace + "." + name; }
  // `system.sum : (int) -> int`. Arguments known to be constant are marked.
  std::string signature(const std::vector<bool>& constants = {}) const;
};

// The information available to a factory.
struct FactoryCall {
  std::string_view name;
  std::vector<types::TypePtr> argument_types;  // nullptr if unknown
  std::vector<std::string> argument_texts;     // for errors
  // The sizes of arguments that are written as [a, b, c]; 0 for others.
  std::vector<size_t> array_sizes;
  types::TypePtr receiver_type;          // nullptr in selections
  const schema::Table* table = nullptr;  // the statement's table
};
using Factory = base::Result<FunctionPtr> (*)(const FactoryCall& call);

// Helpers for factories make the function for a call, and the errors. `parameters` are the parameters as
// written in the function's signature.
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
  // Returns nullptr if there is none.
  const FunctionEntry* find(std::string_view name) const;
  std::vector<std::string> names() const;

  void add(Function function);
  void add_factory(std::string name, Factory factory);

 private:
  // The registry has all groups of src/plan/functions.
  FunctionRegistry();
  std::vector<std::pair<std::string, FunctionEntry>> entries_;  // sorted by name
};

// Arithmetic operators are calls of these functions.
const char* operation_name(cql::ArithmeticOperator op);  // "_add", ...
inline constexpr const char* negation_name = "_negate";
bool is_operation(std::string_view name);
char operation_symbol(std::string_view name);
// `cast_as_int`, or empty if nothing can be cast to the type.
std::string cast_name(const types::Type& type);

// The error for a failure inside a function: code 0x1400.
base::Error function_failure(const Function& function, std::string message);

// A bound call. Pure calls with constant arguments are evaluated here, once.
TermPtr make_call(FunctionPtr function, std::vector<TermPtr> arguments);

inline ValueView kept(Scratch& scratch, Bytes bytes) {
  return ValueView::of(scratch.keep(std::move(bytes)));
}

}  // namespace sibyl::plan
