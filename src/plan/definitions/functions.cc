// CREATE and DROP of functions and aggregates, with checks in Cassandra's order.
#include "plan/definitions/functions.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "plan/definitions/draft.h"
#include "plan/terms/term.h"
#include "plan/terms/user_functions.h"
#include "plan/terms/written_types.h"

namespace sibyl::plan {

using base::invalid;
using schema::Change;
using types::Kind;
using types::TypePtr;

namespace {

base::Status may_change_functions(const Draft& draft, const std::string& keyspace) {
  const schema::KeyspacePtr found = draft.schema().find_keyspace(keyspace);
  if (found != nullptr && found->is_system)
    return invalid(fmt::format("System keyspace '{}' is not user-modifiable", keyspace));
  return {};
}

bool is_name_valid(const std::string& name) {
  return name.find_first_of("/[]") == std::string::npos;
}

// True if `frozen` was written and has a meaning. Tuples and vectors are always frozen.
bool is_written_frozen(const cql::RawType& raw) {
  return raw.frozen && raw.name != "tuple" && raw.name != "vector";
}

base::Status refuse_frozen(const char* what, const cql::RawType& raw, const std::string& keyspace) {
  if (!is_written_frozen(raw)) return {};
  return invalid(fmt::format("{} '{}' cannot be frozen; remove frozen<> modifier from '{}'", what,
                             spell(raw, keyspace), spell(raw, keyspace)));
}

base::Status refuse_frozen_arguments(const std::vector<cql::RawType>& raws, const std::string& keyspace) {
  for (const cql::RawType& raw : raws) SIBYL_TRY(refuse_frozen("Argument", raw, keyspace));
  return {};
}

base::Result<std::vector<TypePtr>> resolve_types(const std::vector<cql::RawType>& raws,
                                                 const schema::Keyspace& keyspace) {
  std::vector<TypePtr> types;
  for (const cql::RawType& raw : raws) {
    SIBYL_ASSIGN(TypePtr type, resolve_type(raw, keyspace));
    types.push_back(std::move(type));
  }
  return types;
}

std::vector<std::string> spell_all(const std::vector<cql::RawType>& raws, const std::string& keyspace) {
  std::vector<std::string> texts;
  for (const cql::RawType& raw : raws) texts.push_back(spell(raw, keyspace));
  return texts;
}

Change change_of_function(Change::Kind kind, Change::Target target, const std::string& keyspace,
                          const std::string& name, std::vector<std::string> argument_types) {
  return {kind, target, keyspace, name, std::move(argument_types)};
}

std::vector<std::string> cql_names(const std::vector<TypePtr>& types) {
  std::vector<std::string> names;
  for (const TypePtr& type : types) names.push_back(type->cql_name());
  return names;
}

// True if callers can use results of the new type as they used results of the old type.
bool may_replace_result(const types::Type& type, const types::Type& before) {
  if (type == before) return true;
  const Kind from = before.kind();
  if (type.kind() == Kind::blob) return from == Kind::ascii || from == Kind::text;
  return type.kind() == Kind::text && from == Kind::ascii;
}

bool is_same(const std::vector<TypePtr>& left, const std::vector<TypePtr>& right) {
  return std::equal(left.begin(), left.end(), right.begin(), right.end(),
                    [](const TypePtr& a, const TypePtr& b) { return *a == *b; });
}

bool is_same(const schema::UserFunction& left, const schema::UserFunction& right) {
  return left.argument_names == right.argument_names && is_same(left.argument_types, right.argument_types) &&
         *left.return_type == *right.return_type && left.called_on_null_input == right.called_on_null_input &&
         left.language == right.language && left.body == right.body;
}

bool is_same(const schema::UserAggregate& left, const schema::UserAggregate& right) {
  return is_same(left.argument_types, right.argument_types) && left.state_function == right.state_function &&
         *left.state_type == *right.state_type && left.final_function == right.final_function &&
         left.initial_condition == right.initial_condition && *left.return_type == *right.return_type;
}

// --- Functions

base::Status check_language(const std::string& language) {
  if (is_function_language(language)) return {};
  return base::fail(
      base::Error(base::ErrorCode::invalid,
                  fmt::format("Currently only Java and Lua UDFs are available (got LANGUAGE {})", language))
          .with_hint("write the body in Lua: LANGUAGE lua AS $$ return a + 1 $$"));
}

base::Status check_written(const cql::CreateFunction& statement, const std::string& keyspace) {
  const std::string& name = statement.function.name;
  if (statement.if_not_exists && statement.or_replace)
    return invalid("Cannot use both 'OR REPLACE' and 'IF NOT EXISTS' directives");
  SIBYL_TRY(check_language(statement.language));
  if (!is_name_valid(name)) return invalid(fmt::format("Function name '{}' is invalid", name));
  std::set<std::string> seen;
  std::vector<std::string> names;
  for (const auto& [argument, raw] : statement.arguments) {
    names.push_back(argument);
    seen.insert(argument);
  }
  if (seen.size() != names.size())
    return invalid(fmt::format("Duplicate argument names for given function {} with argument names [{}]",
                               name, fmt::join(names, ", ")));
  for (const auto& [argument, raw] : statement.arguments) SIBYL_TRY(refuse_frozen("Argument", raw, keyspace));
  return refuse_frozen("Return type", statement.return_type, keyspace);
}

base::Status check_compiles(const schema::UserFunction& function) {
  const base::Status compiled = check_body(function);
  if (compiled) return {};
  if (function.language == "lua")
    return invalid(fmt::format("Lua source compilation failed:\n{}", compiled.error().message()));
  base::Error refused(base::ErrorCode::invalid,
                      fmt::format("Java source compilation failed:\n{}\n", compiled.error().message()));
  if (compiled.error().message().find("not supported") != std::string::npos)
    refused = refused.with_hint(
        "a body in Java consists of return, if and expressions of numbers and texts; write other bodies in "
        "Lua");
  return base::fail(refused);
}

base::Result<std::shared_ptr<schema::UserFunction>> read_function(const cql::CreateFunction& statement,
                                                                  const schema::Keyspace& keyspace) {
  auto function = std::make_shared<schema::UserFunction>();
  function->keyspace = keyspace.name;
  function->name = statement.function.name;
  for (const auto& [argument, raw] : statement.arguments) {
    SIBYL_ASSIGN(TypePtr type, resolve_type(raw, keyspace));
    function->argument_names.push_back(argument);
    function->argument_types.push_back(std::move(type));
  }
  SIBYL_ASSIGN(function->return_type, resolve_type(statement.return_type, keyspace));
  function->called_on_null_input = statement.called_on_null_input;
  function->language = statement.language;
  function->body = statement.body;
  SIBYL_TRY(check_compiles(*function));
  return function;
}

base::Status check_replacement(const schema::UserFunction& function, const schema::UserFunction& existing) {
  if (function.called_on_null_input != existing.called_on_null_input)
    return invalid(
        fmt::format("Function '{}' must have {} directive", function.name,
                    function.called_on_null_input ? "CALLED ON NULL INPUT" : "RETURNS NULL ON NULL INPUT"));
  if (!may_replace_result(*function.return_type, *existing.return_type))
    return invalid(fmt::format(
        "Cannot replace function '{}', the new return type {} is not compatible with the return type {} of "
        "existing function",
        function.name, function.return_type->cql_name(), existing.return_type->cql_name()));
  return {};
}

// --- Aggregates

// The written parts of a CREATE AGGREGATE, for messages.
struct AggregateTexts {
  std::string state, final;

  AggregateTexts(const cql::CreateAggregate& statement, const std::string& keyspace) {
    std::vector<std::string> types = {spell(statement.state_type, keyspace)};
    final = fmt::format("{}.{}({})", keyspace, statement.final_function, types[0]);
    for (const cql::RawType& raw : statement.argument_types) types.push_back(spell(raw, keyspace));
    state = fmt::format("{}.{}({})", keyspace, statement.state_function, fmt::join(types, ", "));
  }
};

// Finds the state or final function of an aggregate.
base::Result<schema::UserFunctionPtr> find_part(const schema::Keyspace& keyspace, const std::string& name,
                                                const std::vector<TypePtr>& arguments, const char* role,
                                                const std::string& text) {
  const std::string signature = schema::signature_of(name, arguments);
  if (keyspace.aggregates.contains(signature))
    return invalid(fmt::format("{} function {} isn't a scalar function", role, text));
  const auto found = keyspace.functions.find(signature);
  if (found == keyspace.functions.end())
    return invalid(fmt::format("{} function {} doesn't exist", role, text));
  return found->second;
}

base::Result<std::optional<base::Bytes>> read_initial_condition(const cql::Expression& expression,
                                                                const schema::UserAggregate& aggregate,
                                                                const Draft& draft) {
  Binder binder(draft.schema(), aggregate.keyspace, 0);
  SIBYL_ASSIGN(const TermPtr term,
               binder.term(expression, {aggregate.keyspace, "", "(dummy)", aggregate.state_type}));
  Scratch scratch;
  Bindings bindings;
  bindings.now_micros = draft.context().now_micros;
  SIBYL_ASSIGN(const ValueView value, term->evaluate(bindings, scratch));
  const auto* literal = std::get_if<cql::Literal>(&expression.node);
  if (literal != nullptr && literal->kind == cql::Literal::Kind::null) return std::nullopt;
  const Kind kind = aggregate.state_type->kind();
  const bool may_be_empty = kind == Kind::text || kind == Kind::ascii || kind == Kind::blob;
  if (!value.is_present() || (value.bytes.empty() && !may_be_empty))
    return invalid("INITCOND must not be empty for all types except TEXT, ASCII, BLOB");
  return base::Bytes(value.bytes);
}

base::Status check_written(const cql::CreateAggregate& statement, const std::string& keyspace) {
  if (statement.if_not_exists && statement.or_replace)
    return invalid("Cannot use both 'OR REPLACE' and 'IF NOT EXISTS' directives");
  if (!is_name_valid(statement.aggregate.name))
    return invalid(fmt::format("Aggregate name '{}' is invalid", statement.aggregate.name));
  SIBYL_TRY(refuse_frozen_arguments(statement.argument_types, keyspace));
  return refuse_frozen("State type", statement.state_type, keyspace);
}

base::Result<std::shared_ptr<schema::UserAggregate>> read_aggregate(const cql::CreateAggregate& statement,
                                                                    const schema::Keyspace& keyspace,
                                                                    const Draft& draft) {
  const AggregateTexts texts(statement, keyspace.name);
  auto aggregate = std::make_shared<schema::UserAggregate>();
  aggregate->keyspace = keyspace.name;
  aggregate->name = statement.aggregate.name;
  SIBYL_ASSIGN(aggregate->argument_types, resolve_types(statement.argument_types, keyspace));
  SIBYL_ASSIGN(aggregate->state_type, resolve_type(statement.state_type, keyspace));
  std::vector<TypePtr> state_arguments = {aggregate->state_type};
  state_arguments.insert(state_arguments.end(), aggregate->argument_types.begin(),
                         aggregate->argument_types.end());
  aggregate->state_function = statement.state_function;
  SIBYL_ASSIGN(const schema::UserFunctionPtr state,
               find_part(keyspace, statement.state_function, state_arguments, "State", texts.state));
  if (!(*state->return_type == *aggregate->state_type))
    return invalid(fmt::format(
        "State function {} return type must be the same as the first argument type - check STYPE, "
        "argument and return types",
        texts.state));
  aggregate->return_type = state->return_type;
  if (!statement.final_function.empty()) {
    aggregate->final_function = statement.final_function;
    SIBYL_ASSIGN(
        const schema::UserFunctionPtr final,
        find_part(keyspace, statement.final_function, {aggregate->state_type}, "Final", texts.final));
    aggregate->return_type = final->return_type;
  }
  if (statement.initial_condition != nullptr) {
    SIBYL_ASSIGN(aggregate->initial_condition,
                 read_initial_condition(*statement.initial_condition, *aggregate, draft));
  }
  if (!state->called_on_null_input && !aggregate->initial_condition)
    return invalid(fmt::format(
        "Cannot create aggregate '{}' without INITCOND because state function {}.{} does not accept "
        "'null' arguments",
        aggregate->name, keyspace.name, statement.state_function));
  return aggregate;
}

// --- DROP

// The number of functions and aggregates with that name.
size_t count_overloads(const Draft& draft, const std::string& keyspace, const std::string& name) {
  return overloads_of(draft.schema(), keyspace, name).size();
}

// The function or aggregate to drop: by its signature, or the only one with its name.
template <typename Map>
typename Map::const_iterator find_dropped(const Map& map, const std::string& name,
                                          const std::optional<std::vector<TypePtr>>& argument_types) {
  if (argument_types) return map.find(schema::signature_of(name, *argument_types));
  return std::find_if(map.begin(), map.end(), [&](const auto& entry) { return entry.second->name == name; });
}

std::string aggregates_using(const schema::Keyspace& keyspace, const schema::UserFunction& function) {
  std::string names;
  for (const auto& [signature, aggregate] : keyspace.aggregates) {
    std::vector<TypePtr> state_arguments = {aggregate->state_type};
    state_arguments.insert(state_arguments.end(), aggregate->argument_types.begin(),
                           aggregate->argument_types.end());
    const bool is_state =
        aggregate->state_function == function.name && is_same(function.argument_types, state_arguments);
    const bool is_final = aggregate->final_function == function.name &&
                          is_same(function.argument_types, {aggregate->state_type});
    if (is_state || is_final)
      names += fmt::format("{}{}.{}", names.empty() ? "" : ", ", keyspace.name, aggregate->name);
  }
  return names;
}

// Names of tables whose columns are masked by the function or an overload of it.
std::string tables_masked_by(const schema::Keyspace& keyspace, const schema::UserFunction& function) {
  std::string names;
  for (const auto& [name, table] : keyspace.tables) {
    const bool is_used =
        std::any_of(table->columns.begin(), table->columns.end(), [&](const schema::Column& column) {
          return column.mask && column.mask->keyspace == keyspace.name &&
                 column.mask->function == function.name;
        });
    if (is_used) names += (names.empty() ? "" : ", ") + name;
  }
  return names;
}

// The common part of DROP FUNCTION and DROP AGGREGATE. `kind` is Function or Aggregate.
template <typename Map>
base::Result<DefinitionResult> drop(const cql::QualifiedName& qualified, bool if_exists,
                                    const std::optional<std::vector<cql::RawType>>& raws, const char* kind,
                                    Map schema::Keyspace::* map, Draft& draft) {
  SIBYL_ASSIGN(const std::string keyspace_name, draft.keyspace_name(qualified));
  SIBYL_TRY(may_change_functions(draft, keyspace_name));
  const std::string& name = qualified.name;
  std::string text = fmt::format("{}.{}", keyspace_name, name);
  if (raws) text += fmt::format("({})", fmt::join(spell_all(*raws, keyspace_name), ", "));
  const auto absent = [&]() -> base::Result<DefinitionResult> {
    if (if_exists) return draft.unchanged();
    return invalid(fmt::format("{} '{}' doesn't exist", kind, text));
  };
  const schema::KeyspacePtr old = draft.schema().find_keyspace(keyspace_name);
  if (old == nullptr) return absent();
  if (!raws && count_overloads(draft, keyspace_name, name) > 1) {
    const std::string upper = std::string_view(kind) == "Function" ? "FUNCTION" : "AGGREGATE";
    return invalid(fmt::format(
        "'DROP {0} {1}' matches multiple function definitions; specify the argument types by issuing a "
        "statement "
        "like 'DROP {0} {1} (type, type, ...)'. You can use cqlsh 'DESCRIBE {0} {1}' command to find all "
        "overloads",
        upper, name));
  }
  std::optional<std::vector<TypePtr>> argument_types;
  if (raws) {
    SIBYL_TRY(refuse_frozen_arguments(*raws, keyspace_name));
    SIBYL_ASSIGN(argument_types, resolve_types(*raws, *old));
  }
  const auto found = find_dropped((*old).*map, name, argument_types);
  if (found == ((*old).*map).end()) return absent();
  if constexpr (std::is_same_v<typename Map::mapped_type, schema::UserFunctionPtr>) {
    const std::string users = aggregates_using(*old, *found->second);
    if (!users.empty())
      return invalid(fmt::format("Function '{}' is still referenced by aggregates {}", text, users));
    if (const std::string masked = tables_masked_by(*old, *found->second); !masked.empty())
      return invalid(
          fmt::format("Function '{}' is still referenced by column masks in tables {}", text, masked));
  }
  Change change = function_change(Change::Kind::dropped, *found->second);
  auto keyspace = draft.change(*old);
  ((*keyspace).*map).erase(found->first);
  return draft.with(std::move(keyspace), std::move(change));
}

}  // namespace

schema::Change function_change(Change::Kind kind, const schema::UserFunction& function) {
  return change_of_function(kind, Change::Target::function, function.keyspace, function.name,
                            cql_names(function.argument_types));
}

schema::Change function_change(Change::Kind kind, const schema::UserAggregate& aggregate) {
  return change_of_function(kind, Change::Target::aggregate, aggregate.keyspace, aggregate.name,
                            cql_names(aggregate.argument_types));
}

base::Result<DefinitionResult> define_function(const cql::CreateFunction& statement, Draft& draft) {
  SIBYL_ASSIGN(const std::string keyspace_name, draft.keyspace_name(statement.function));
  SIBYL_TRY(may_change_functions(draft, keyspace_name));
  if (!draft.context().guardrails->user_defined_functions_enabled)
    return invalid(
        "User-defined functions are disabled in cassandra.yaml - set user_defined_functions_enabled=true to "
        "enable");
  SIBYL_TRY(check_written(statement, keyspace_name));
  const schema::KeyspacePtr old = draft.schema().find_keyspace(keyspace_name);
  if (old == nullptr) return invalid(fmt::format("Keyspace '{}' doesn't exist", keyspace_name));
  SIBYL_ASSIGN(std::shared_ptr<schema::UserFunction> function, read_function(statement, *old));
  const std::string signature = schema::signature_of(function->name, function->argument_types);
  if (old->aggregates.contains(signature))
    return invalid(fmt::format("Function '{}' cannot replace an aggregate", function->name));
  const auto existing = old->functions.find(signature);
  const bool exists = existing != old->functions.end();
  if (exists) {
    if (statement.if_not_exists) return draft.unchanged();
    if (!statement.or_replace) return invalid(fmt::format("Function '{}' already exists", function->name));
    SIBYL_TRY(check_replacement(*function, *existing->second));
    if (is_same(*function, *existing->second)) return draft.unchanged();
  }
  std::vector<std::string> texts;
  for (const auto& [argument, raw] : statement.arguments) texts.push_back(spell(raw, keyspace_name));
  Change change =
      change_of_function(exists ? Change::Kind::updated : Change::Kind::created, Change::Target::function,
                         keyspace_name, function->name, std::move(texts));
  auto keyspace = draft.change(*old);
  keyspace->functions.insert_or_assign(signature, std::move(function));
  return draft.with(std::move(keyspace), std::move(change));
}

base::Result<DefinitionResult> define_function(const cql::DropFunction& statement, Draft& draft) {
  return drop(statement.function, statement.if_exists, statement.argument_types, "Function",
              &schema::Keyspace::functions, draft);
}

base::Result<DefinitionResult> define_function(const cql::CreateAggregate& statement, Draft& draft) {
  SIBYL_ASSIGN(const std::string keyspace_name, draft.keyspace_name(statement.aggregate));
  SIBYL_TRY(may_change_functions(draft, keyspace_name));
  const schema::KeyspacePtr old = draft.schema().find_keyspace(keyspace_name);
  if (old == nullptr)
    return base::fail(base::ErrorCode::config, fmt::format("Keyspace {} doesn't exist", keyspace_name));
  SIBYL_TRY(check_written(statement, keyspace_name));
  SIBYL_ASSIGN(std::shared_ptr<schema::UserAggregate> aggregate, read_aggregate(statement, *old, draft));
  const std::string signature = schema::signature_of(aggregate->name, aggregate->argument_types);
  if (old->functions.contains(signature))
    return invalid(fmt::format("Aggregate '{}' cannot replace a function", aggregate->name));
  const auto existing = old->aggregates.find(signature);
  const bool exists = existing != old->aggregates.end();
  if (exists) {
    if (statement.if_not_exists) return draft.unchanged();
    if (!statement.or_replace) return invalid(fmt::format("Aggregate '{}' already exists", aggregate->name));
    const schema::UserAggregate& before = *existing->second;
    if (!may_replace_result(*aggregate->return_type, *before.return_type))
      return invalid(fmt::format(
          "Cannot replace aggregate '{}', the new return type {} isn't compatible with the return type {} of "
          "existing function",
          aggregate->name, aggregate->return_type->cql_name(), before.return_type->cql_name()));
    if (is_same(*aggregate, before)) return draft.unchanged();
  }
  Change change =
      change_of_function(exists ? Change::Kind::updated : Change::Kind::created, Change::Target::aggregate,
                         keyspace_name, aggregate->name, spell_all(statement.argument_types, keyspace_name));
  auto keyspace = draft.change(*old);
  keyspace->aggregates.insert_or_assign(signature, std::move(aggregate));
  return draft.with(std::move(keyspace), std::move(change));
}

base::Result<DefinitionResult> define_function(const cql::DropAggregate& statement, Draft& draft) {
  return drop(statement.aggregate, statement.if_exists, statement.argument_types, "Aggregate",
              &schema::Keyspace::aggregates, draft);
}

}  // namespace sibyl::plan
