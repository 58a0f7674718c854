#include "plan/terms/functions.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "base/ascii.h"
#include "base/statement.h"
#include "plan/numbers/number.h"
#include "plan/terms/term_nodes.h"
#include "plan/terms/term_text.h"
#include "plan/terms/term_types.h"
#include "plan/terms/user_functions.h"
#include "types/identifier.h"

namespace sibyl::plan {

using base::invalid;
using types::Kind;
using types::TypePtr;

// --- The registry

namespace {
// Signatures omit the outer frozen<>.
std::string unfrozen_name(const types::Type& type) {
  constexpr std::string_view frozen = "frozen<";
  std::string name = type.cql_name();
  return name.starts_with(frozen) ? name.substr(frozen.size(), name.size() - frozen.size() - 1) : name;
}
}  // namespace

std::string Function::signature(const std::vector<bool>& constants) const {
  std::string text;
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (i != 0) text += ", ";
    text += unfrozen_name(*arguments[i]);
    if (i < constants.size() && constants[i]) text += "(constant)";
  }
  return fmt::format("{}.{} : ({}) -> {}", keyspace, types::quote_identifier(name), text,
                     unfrozen_name(*returns));
}

namespace {
bool has_long_numbers(const Function& function) {
  const auto is_long = [](const TypePtr& type) {
    return type->references(types::Kind::varint) || type->references(types::Kind::decimal);
  };
  return is_long(function.returns) ||
         std::any_of(function.arguments.begin(), function.arguments.end(), is_long);
}

}  // namespace

const FunctionRegistry& FunctionRegistry::instance() {
  static const FunctionRegistry registry;
  return registry;
}

namespace {
template <typename Entries>
auto lower_bound(Entries& entries, std::string_view name) {
  return std::lower_bound(entries.begin(), entries.end(), name,
                          [](const auto& entry, std::string_view wanted) { return entry.first < wanted; });
}
}  // namespace

const FunctionEntry* FunctionRegistry::find(std::string_view name) const {
  const auto at = lower_bound(entries_, name);
  return at != entries_.end() && at->first == name ? &at->second : nullptr;
}

std::vector<std::string> FunctionRegistry::names() const {
  std::vector<std::string> out;
  for (const auto& [name, entry] : entries_) out.push_back(name);
  return out;
}

void FunctionRegistry::add(Function function) {
  auto at = lower_bound(entries_, function.name);
  if (at == entries_.end() || at->first != function.name)
    at = entries_.insert(at, {function.name, FunctionEntry{}});
  at->second.functions.push_back(std::make_shared<const Function>(std::move(function)));
}

void FunctionRegistry::add_factory(std::string name, Factory factory) {
  auto at = lower_bound(entries_, name);
  if (at == entries_.end() || at->first != name) at = entries_.insert(at, {std::move(name), FunctionEntry{}});
  at->second.factory = factory;
}

// --- Arithmetic as calls

const char* operation_name(cql::ArithmeticOperator op) {
  switch (op) {
    case cql::ArithmeticOperator::add:
      return "_add";
    case cql::ArithmeticOperator::subtract:
      return "_substract";
    case cql::ArithmeticOperator::multiply:
      return "_multiply";
    case cql::ArithmeticOperator::divide:
      return "_divide";
    case cql::ArithmeticOperator::modulo:
      return "_modulo";
  }
  return "";
}

char operation_symbol(std::string_view name) {
  if (name == "_add") return '+';
  if (name == "_substract") return '-';
  if (name == "_multiply") return '*';
  if (name == "_divide") return '/';
  return name == "_modulo" ? '%' : '\0';
}

bool is_operation(std::string_view name) {
  return operation_symbol(name) != '\0';
}

std::string cast_name(const types::Type& type) {
  const Kind kind = type.kind();
  const bool possible = (is_numeric(kind) && kind != Kind::counter) || kind == Kind::ascii ||
                        kind == Kind::text || kind == Kind::date || kind == Kind::timestamp;
  return possible ? "cast_as_" + type.cql_name() : std::string();
}

std::shared_ptr<Function> make_function(const FactoryCall& call, std::vector<TypePtr> arguments,
                                        TypePtr returns, Function::Evaluate evaluate) {
  auto function = std::make_shared<Function>();
  function->name = call.name;
  function->arguments = std::move(arguments);
  function->returns = std::move(returns);
  function->evaluate = evaluate;
  function->from_factory = true;
  return function;
}

std::unexpected<base::Error> wrong_argument_count(const FactoryCall& call, std::string_view parameters) {
  return invalid(
      fmt::format("Invalid number of arguments for function system.{}({})", call.name, parameters));
}

std::unexpected<base::Error> unknown_argument_type(const FactoryCall& call, size_t index,
                                                   std::string_view parameters) {
  return invalid(fmt::format(
      "Cannot infer type of argument {} in call to function system.{}({}): use type casts to disambiguate",
      call.argument_texts[index], call.name, parameters));
}

base::Error function_failure(const Function& function, std::string message) {
  base::ErrorDetails details;
  details.code = base::ErrorCode::function_failure;
  details.message = std::move(message);
  details.keyspace = function.keyspace;
  details.function = function.name;
  for (const TypePtr& argument : function.arguments) details.argument_types.push_back(argument->cql_name());
  return base::Error(std::move(details));
}

// --- Bound calls

namespace {

class CallTerm final : public Term {
 public:
  CallTerm(FunctionPtr function, std::vector<TermPtr> arguments)
      : Term(function->returns), function_(std::move(function)), arguments_(std::move(arguments)) {}

  base::Result<ValueView> evaluate(const Bindings& bindings, Scratch& scratch) const override {
    std::vector<ValueView> values;
    values.reserve(arguments_.size());
    bool has_null = false;
    size_t bytes = 0;
    for (size_t i = 0; i < arguments_.size(); ++i) {
      SIBYL_ASSIGN(ValueView value, arguments_[i]->evaluate(bindings, scratch));
      if (value.is_unset())
        return invalid(
            fmt::format("Invalid unset value for argument in call to function {}", function_->name));
      if (value.is_present() && value.bytes.empty() && !function_->takes_empty &&
          !may_be_empty(*function_->arguments[i]))
        value = {};
      has_null = has_null || value.is_null();
      bytes += value.bytes.size();
      values.push_back(value);
    }
    if (has_null && !function_->takes_nulls) return ValueView::null();
    // The time that the slowest functions take for each byte. Functions that take longer count their work
    // themselves.
    constexpr int64_t nanos_of_call = 200, nanos_of_byte = 4;
    base::count_work(nanos_of_call + static_cast<int64_t>(bytes) * nanos_of_byte);
    return function_->evaluate(*function_, values, bindings, scratch);
  }

  bool is_constant() const override {
    return function_->is_pure && std::all_of(arguments_.begin(), arguments_.end(),
                                             [](const TermPtr& term) { return term->is_constant(); });
  }
  bool has_marker() const override {
    return std::any_of(arguments_.begin(), arguments_.end(),
                       [](const TermPtr& term) { return term->has_marker(); });
  }

 private:
  static bool may_be_empty(const types::Type& type) {
    const types::Kind kind = type.kind();
    return kind == types::Kind::text || kind == types::Kind::ascii || kind == types::Kind::blob ||
           kind == types::Kind::custom || kind == types::Kind::tuple || kind == types::Kind::udt;
  }

  FunctionPtr function_;
  std::vector<TermPtr> arguments_;
};

}  // namespace

TermPtr make_call(FunctionPtr function, std::vector<TermPtr> arguments) {
  // If an argument was not folded, because it fails or is large, the outer call is not folded either, so that
  // the argument is not computed again.
  const bool may_fold = std::all_of(arguments.begin(), arguments.end(), [](const TermPtr& argument) {
    return dynamic_cast<const ConstantTerm*>(argument.get()) != nullptr;
  });
  TermPtr call = std::make_shared<CallTerm>(std::move(function), std::move(arguments));
  if (!may_fold) return call;
  // A call that fails stays a call. It fails at execution, as in Cassandra.
  auto folded = fold(call);
  return folded ? *folded : call;
}

// --- Resolving a call

// A call in any spelling: its name and arguments.
struct Resolution {
  std::string keyspace, name;
  std::vector<const cql::Expression*> arguments;

  // Returns false if the expression is not a call.
  static base::Result<bool> take(Binder& binder, const cql::Expression& expression, Resolution& call) {
    if (const auto* written = std::get_if<cql::FunctionCall>(&expression.node)) {
      call.keyspace = written->function.keyspace;
      call.name = written->function.name;
      for (const cql::ExpressionPtr& argument : written->arguments) call.arguments.push_back(argument.get());
      const bool counts_rows =
          call.name == "count" && binder.scope() != nullptr &&
          (written->star ||
           (call.arguments.size() == 1 && std::holds_alternative<cql::Literal>(call.arguments[0]->node)));
      if (counts_rows) {
        call.name = "count_rows";
        call.arguments.clear();
      }
      return true;
    }
    if (const auto* arithmetic = std::get_if<cql::Arithmetic>(&expression.node)) {
      call.name = operation_name(arithmetic->op);
      call.arguments = {arithmetic->left.get(), arithmetic->right.get()};
    } else if (const auto* negation = std::get_if<cql::Negation>(&expression.node)) {
      call.name = negation_name;
      call.arguments = {negation->of.get()};
    } else if (const auto* cast = std::get_if<cql::Cast>(&expression.node)) {
      SIBYL_ASSIGN(const TypePtr type, binder.type(cast->type, binder.keyspace()));
      call.name = cast_name(*type);
      const bool is_alias = cast->type.name == "varchar";  // Cassandra has no cast_as_varchar
      if (call.name.empty() || is_alias)
        return invalid(fmt::format("{} cannot be cast to {}", text_of(*cast->of),
                                   is_alias ? "varchar" : type->cql_name()));
      call.arguments = {cast->of.get()};
    } else {
      return false;
    }
    call.keyspace = "system";
    return true;
  }

  std::string written_name() const { return keyspace.empty() ? name : keyspace + "." + name; }
};

namespace {

ColumnSpec argument_spec(const ColumnSpec& receiver, const Function& function, size_t index) {
  std::string name = base::ascii_lower(fmt::format("arg{}({})", index, function.qualified_name()));
  return {receiver.keyspace, receiver.table, std::move(name), function.arguments[index]};
}

base::Status check_single(Binder& binder, const Resolution& call, const Function& function,
                          const ColumnSpec& receiver) {
  if (call.arguments.size() != function.arguments.size())
    return invalid(
        fmt::format("Invalid number of arguments in call to function {}: {} required but {} provided",
                    function.qualified_name(), function.arguments.size(), call.arguments.size()));
  for (size_t i = 0; i < call.arguments.size(); ++i) {
    const ColumnSpec expected = argument_spec(receiver, function, i);
    SIBYL_ASSIGN(const Fit fits, binder.fit(*call.arguments[i], expected));
    if (fits == Fit::none)
      return invalid(fmt::format("Type error: {} cannot be passed as argument {} of function {} of type {}",
                                 binder.text(*call.arguments[i]), i, function.qualified_name(),
                                 expected.type->cql_name()));
  }
  return {};
}

base::Result<Fit> match(Binder& binder, const Resolution& call, const Function& function,
                        const ColumnSpec& receiver) {
  if (call.arguments.size() != function.arguments.size()) return Fit::none;
  Fit all = Fit::exact;
  for (size_t i = 0; i < call.arguments.size(); ++i) {
    SIBYL_ASSIGN(const Fit one, binder.fit(*call.arguments[i], argument_spec(receiver, function, i)));
    if (one == Fit::none) return Fit::none;
    if (one == Fit::weak) all = Fit::weak;
  }
  return all;
}

std::string signatures(const std::vector<FunctionPtr>& functions) {
  std::string text;
  for (const FunctionPtr& function : functions) {
    if (!text.empty()) text += ", ";
    text += function->signature();
  }
  return text;
}

base::Result<FunctionPtr> ambiguous(const Binder& binder, const Resolution& call,
                                    const std::vector<FunctionPtr>& fitting, const TypePtr& receiver) {
  if (is_operation(call.name)) {
    const bool has_marker = std::any_of(
        call.arguments.begin(), call.arguments.end(),
        [](const cql::Expression* e) { return std::holds_alternative<cql::BindMarker>(e->node); });
    if (receiver != nullptr && !has_marker)
      for (const FunctionPtr& candidate : fitting)
        if (*candidate->arguments[0] == *receiver && *candidate->arguments[1] == *receiver) return candidate;
    return invalid(fmt::format(
        "Ambiguous '{}' operation with args {} and {}: use type hint to disambiguate, example '(int) ?'",
        operation_symbol(call.name), binder.text(*call.arguments[0]), binder.text(*call.arguments[1])));
  }
  if (call.name == negation_name) return invalid("Ambiguous negation: use type casts to disambiguate");
  return invalid(
      fmt::format("Ambiguous call to function {} (can be matched by following signatures: {}): use type "
                  "casts to disambiguate",
                  call.written_name(), signatures(fitting)));
}

base::Result<FunctionPtr> best_match(Binder& binder, const Resolution& call,
                                     const std::vector<FunctionPtr>& candidates, const ColumnSpec& receiver) {
  std::vector<FunctionPtr> fitting;
  for (const FunctionPtr& candidate : candidates) {
    if (receiver.type != nullptr && fit_of(*candidate->returns, *receiver.type) == Fit::none) continue;
    SIBYL_ASSIGN(const Fit fits, match(binder, call, *candidate, receiver));
    if (fits == Fit::exact) return candidate;
    if (fits == Fit::weak) fitting.push_back(candidate);
  }
  if (fitting.size() == 1) return fitting[0];
  if (fitting.size() > 1) return ambiguous(binder, call, fitting, receiver.type);
  if (is_operation(call.name))
    return invalid(fmt::format("the '{}' operation is not supported between {} and {}",
                               operation_symbol(call.name), binder.text(*call.arguments[0]),
                               binder.text(*call.arguments[1])));
  return invalid(fmt::format(
      "Invalid call to function {}, none of its type signatures match (known type signatures: {})",
      call.written_name(), signatures(candidates)));
}

std::string written_name(const cql::Expression& expression) {
  const auto* call = std::get_if<cql::FunctionCall>(&expression.node);
  if (call == nullptr) return {};
  return call->function.keyspace.empty() ? call->function.name
                                         : call->function.keyspace + "." + call->function.name;
}

// Visits the outermost calls in an expression, and checks that its columns exist. Casts are skipped: their
// type is known without their operand.
base::Status visit_calls(RowScope& scope, const cql::Expression& expression,
                         const std::function<base::Status(const cql::Expression&)>& visit) {
  const auto each = [&](const std::vector<cql::ExpressionPtr>& elements) -> base::Status {
    for (const cql::ExpressionPtr& element : elements) SIBYL_TRY(visit_calls(scope, *element, visit));
    return {};
  };
  const auto& node = expression.node;
  if (std::holds_alternative<cql::FunctionCall>(node)) {
    SIBYL_ASSIGN(const TypePtr own, scope.type_of(expression));
    return own == nullptr ? visit(expression) : base::Status();
  }
  if (std::holds_alternative<cql::Arithmetic>(node) || std::holds_alternative<cql::Negation>(node))
    return visit(expression);
  if (const auto* cast = std::get_if<cql::Cast>(&node)) return visit_calls(scope, *cast->of, visit);
  if (const auto* list = std::get_if<cql::ListLiteral>(&node)) return each(list->elements);
  if (const auto* set = std::get_if<cql::SetLiteral>(&node)) return each(set->elements);
  if (const auto* tuple = std::get_if<cql::TupleLiteral>(&node)) return each(tuple->elements);
  if (const auto* field = std::get_if<cql::FieldSelection>(&node))
    return visit_calls(scope, *field->of, visit);
  if (const auto* element = std::get_if<cql::ElementSelection>(&node))
    return visit_calls(scope, *element->of, visit);
  if (const auto* slice = std::get_if<cql::SliceSelection>(&node))
    return visit_calls(scope, *slice->of, visit);
  // An unknown column is reported before the unknown function that it is given to.
  if (std::holds_alternative<cql::ColumnReference>(node)) SIBYL_TRY(scope.type_of(expression));
  return {};
}

base::Result<FunctionPtr> from_factory(Binder& binder, const Resolution& call, Factory factory,
                                       const ColumnSpec& receiver) {
  FactoryCall made{call.name, {}, {}, {}, receiver.type, nullptr};
  for (const cql::Expression* argument : call.arguments) {
    SIBYL_ASSIGN(TypePtr type, binder.preferred_type(*argument));
    made.argument_types.push_back(std::move(type));
    made.argument_texts.push_back(binder.text(*argument));
    const auto* list = std::get_if<cql::ListLiteral>(&argument->node);
    made.array_sizes.push_back(list == nullptr ? 0 : list->elements.size());
  }
  const schema::TablePtr table = binder.schema().find_table(receiver.keyspace, receiver.table);
  made.table = table.get();
  return factory(made);
}

}  // namespace

base::Result<FunctionPtr> Binder::find_function(const cql::Expression& expression,
                                                const ColumnSpec& receiver) {
  Resolution call;
  SIBYL_ASSIGN(const bool is_call, Resolution::take(*this, expression, call));
  if (!is_call) return nullptr;
  // In selections, errors of inner expressions are reported before those of outer ones.
  const std::function<base::Status(const cql::Expression&)> visit = [&](const cql::Expression& inner) {
    return visit_calls(*scope_, inner, [&](const cql::Expression& one) -> base::Status {
      SIBYL_ASSIGN(const FunctionPtr found, resolve(one, scope_->receiver(), false));
      if (found == nullptr) return invalid(fmt::format("Unknown function '{}'", written_name(one)));
      return {};
    });
  };
  if (scope_ != nullptr)
    for (const cql::Expression* argument : call.arguments) SIBYL_TRY(visit(*argument));
  if (!receiver.keyspace.empty()) function_keyspace_ = receiver.keyspace;
  std::vector<FunctionPtr> candidates;
  if (call.keyspace != "system") {
    const std::string& home = call.keyspace.empty() ? function_keyspace_ : call.keyspace;
    SIBYL_ASSIGN(candidates, user_functions(schema_, home, call.name, uses_));
  }
  const bool may_be_native = call.keyspace.empty() || call.keyspace == "system";
  const FunctionEntry* entry = may_be_native ? FunctionRegistry::instance().find(call.name) : nullptr;
  if (entry != nullptr) candidates.insert(candidates.end(), entry->functions.begin(), entry->functions.end());
  if (entry != nullptr && entry->factory != nullptr) {
    SIBYL_ASSIGN(FunctionPtr made, from_factory(*this, call, entry->factory, receiver));
    if (made != nullptr) candidates.push_back(std::move(made));
  }
  if (candidates.empty()) return nullptr;
  if (candidates.size() > 1) return best_match(*this, call, candidates, receiver);
  SIBYL_TRY(check_single(*this, call, *candidates[0], receiver));
  return candidates[0];
}

base::Result<FunctionPtr> Binder::resolve(const cql::Expression& expression, const ColumnSpec& receiver,
                                          bool typed_by_receiver) {
  ColumnSpec target = receiver;
  if (!typed_by_receiver) target.type = nullptr;
  const auto key = std::pair(&expression, target.type);
  if (const auto found = resolved_.find(key); found != resolved_.end()) return found->second;
  auto function = find_function(expression, target);
  resolved_.emplace(key, function);
  return function;
}

std::string Binder::text(const cql::Expression& expression) const {
  return scope_ == nullptr ? text_of(expression) : scope_->text(expression);
}

FunctionPtr Binder::resolved(const cql::Expression& call) const {
  const auto found = resolved_.lower_bound(std::pair(&call, TypePtr()));
  if (found == resolved_.end() || found->first.first != &call || !found->second) return nullptr;
  return *found->second;
}

void Binder::add_call(const Function& function) {
  const bool is_users = function.lua != nullptr || function.aggregation != nullptr;
  if (is_users)
    calls_.push_back({function.keyspace, schema::signature_of(function.name, function.arguments)});
  is_compute_heavy_ |= has_long_numbers(function);
}

base::Result<TermPtr> Binder::call(const cql::Expression& expression, const ColumnSpec& receiver,
                                   bool typed_by_receiver) {
  constexpr int64_t nanos_of_resolving = 10'000;
  base::count_work(nanos_of_resolving);
  Resolution call;
  SIBYL_ASSIGN(const bool is_call, Resolution::take(*this, expression, call));
  if (!is_call)
    return base::fail(base::Error(base::ErrorCode::invalid,
                                  fmt::format("Invalid value {} for {}", text_of(expression), receiver.name))
                          .with_hint("text is written in single quotes: 'abc'"));
  std::vector<TermPtr> arguments;
  if (const auto* cast = std::get_if<cql::Cast>(&expression.node); cast != nullptr && scope_ != nullptr) {
    const bool is_inner_call = std::holds_alternative<cql::FunctionCall>(cast->of->node) ||
                               std::holds_alternative<cql::Arithmetic>(cast->of->node) ||
                               std::holds_alternative<cql::Negation>(cast->of->node);
    SIBYL_ASSIGN(const TypePtr selected, scope_->type_of(*cast->of));
    if (is_inner_call && selected == nullptr) SIBYL_TRY(resolve(*cast->of, scope_->receiver(), false));
    SIBYL_ASSIGN(const TypePtr own, exact_type(*cast->of));
    if (own == nullptr)
      return invalid(
          fmt::format("Cannot infer type for term {} in selection clause (try using a cast to force a type)",
                      text_of(*cast->of)));
    SIBYL_ASSIGN(TermPtr argument,
                 term(*cast->of, {receiver.keyspace, receiver.table, text(*cast->of), own}));
    arguments.push_back(std::move(argument));
  }
  // Selectors have their own types, independent of their use.
  const bool is_typed = typed_by_receiver && scope_ == nullptr;
  SIBYL_ASSIGN(const FunctionPtr function, resolve(expression, receiver, is_typed));
  if (function == nullptr)
    return invalid(is_typed ? fmt::format("Unknown function {} called", call.written_name())
                            : fmt::format("Unknown function '{}'", call.written_name()));
  if (function->is_aggregate() && scope_ == nullptr)
    return invalid("Aggregation function are not supported in the where clause");
  if (is_typed && fit_of(*function->returns, *receiver.type) == Fit::none) {
    const bool operation = is_operation(function->name);
    return invalid(
        fmt::format("Type error: cannot assign result of {} {} (type {}) to {} (type {})",
                    operation ? "operation" : "function",
                    operation ? std::string(1, operation_symbol(function->name)) : function->qualified_name(),
                    function->returns->cql_name(), receiver.name, receiver.type->cql_name()));
  }
  // Permissions are checked in Cassandra's order: in selections, an outer call before the calls in its
  // arguments.
  if (scope_ != nullptr) add_call(*function);
  for (size_t i = arguments.size(); i < call.arguments.size(); ++i) {
    SIBYL_ASSIGN(TermPtr argument, term(*call.arguments[i], argument_spec(receiver, *function, i)));
    arguments.push_back(std::move(argument));
  }
  if (scope_ == nullptr) add_call(*function);
  if (function->is_aggregate()) return scope_->aggregate(function, std::move(arguments));
  return make_call(function, std::move(arguments));
}

}  // namespace sibyl::plan
