// Functions of collections and vectors, and JSON functions. Their signatures depend on the argument types.
#include "plan/functions/collection.h"

#include <fmt/format.h>

#include <cmath>

#include "plan/functions/aggregate.h"
#include "plan/numbers/number.h"
#include "plan/terms/functions.h"
#include "plan/terms/json.h"
#include "plan/terms/json_parse.h"
#include "plan/terms/similarity.h"
#include "types/elements.h"
#include "types/print_json.h"

namespace sibyl::plan {

using base::invalid;
using types::Kind;
using types::TypePtr;

namespace {

// Returns the type of the only argument. Fails if there are several, or if its type is unknown.
base::Result<TypePtr> only_argument(const FactoryCall& call, const char* parameter) {
  if (call.argument_types.size() != 1) return wrong_argument_count(call, parameter);
  if (call.argument_types[0] == nullptr) return unknown_argument_type(call, 0, parameter);
  return call.argument_types[0];
}

std::unexpected<base::Error> wrong_argument(const FactoryCall& call, size_t index, const char* what,
                                            const TypePtr& type) {
  return invalid(fmt::format("Function system.{} requires a {} argument, but found argument {} of type {}",
                             call.name, what, call.argument_texts[index], type->cql_name()));
}

// --- map_keys, map_values

base::Result<ValueView> map_side(const Function& function, std::span<const ValueView> arguments,
                                 const Bindings&, Scratch& scratch) {
  SIBYL_ASSIGN(const types::Elements entries, types::split(*function.arguments[0], arguments[0].bytes));
  types::Elements side;
  for (size_t i = function.name == "map_keys" ? 0 : 1; i < entries.size(); i += 2) side.push_back(entries[i]);
  return kept(scratch, types::join(*function.returns, side));
}

base::Result<FunctionPtr> make_map_side(const FactoryCall& call) {
  SIBYL_ASSIGN(const TypePtr type, only_argument(call, "map"));
  if (type->kind() != Kind::map) return wrong_argument(call, 0, "map", type);
  TypePtr returns = call.name == "map_keys" ? types::set_of(type->map_key(), true)
                                            : types::list_of(type->map_value(), true);
  return make_function(call, {type}, std::move(returns), map_side);
}

// --- collection_count, collection_min, ...

base::Result<ValueView> count(const Function& function, std::span<const ValueView> arguments, const Bindings&,
                              Scratch& scratch) {
  SIBYL_ASSIGN(const types::Elements elements, types::split(*function.arguments[0], arguments[0].bytes));
  const size_t step = function.arguments[0]->kind() == Kind::map ? 2 : 1;
  return kept(scratch, types::encode_int32(static_cast<int32_t>(elements.size() / step)));
}

base::Result<FunctionPtr> make_count(const FactoryCall& call) {
  SIBYL_ASSIGN(const TypePtr type, only_argument(call, "collection"));
  if (!type->is_collection()) return wrong_argument(call, 0, "collection", type);
  return make_function(call, {type}, types::scalar(Kind::int_), count);
}

base::Result<ValueView> aggregate_elements(const Function& function, std::span<const ValueView> arguments,
                                           const Bindings&, Scratch& scratch) {
  SIBYL_ASSIGN(const types::Elements elements, types::split(*function.arguments[0], arguments[0].bytes));
  const auto accumulator = make_accumulator(function.name, function.returns);
  for (const auto& element : elements) {
    const ValueView value = element ? ValueView::of(*element) : ValueView::null();
    SIBYL_TRY(accumulator->add(std::span(&value, 1)));
  }
  SIBYL_ASSIGN(const ValueView result, accumulator->result());
  return result.is_present() ? kept(scratch, Bytes(result.bytes)) : ValueView::null();
}

base::Result<FunctionPtr> make_aggregation(const FactoryCall& call) {
  const bool is_numeric_only = call.name == "collection_sum" || call.name == "collection_avg";
  SIBYL_ASSIGN(const TypePtr type, only_argument(call, "numeric_set_or_list"));
  const bool is_set_or_list = type->kind() == Kind::set || type->kind() == Kind::list;
  if (is_numeric_only && (!is_set_or_list || !is_numeric(type->element()->kind())))
    return wrong_argument(call, 0, "numeric set/list", type);
  if (!is_set_or_list) return wrong_argument(call, 0, "set or list", type);
  return make_function(call, {type}, type->element(), aggregate_elements);
}

// --- Similarity of vectors

base::Result<ValueView> similarity(const Function& function, std::span<const ValueView> arguments,
                                   const Bindings&, Scratch& scratch) {
  const std::optional<Similarity> kind =
      similarity_of(std::string_view(function.name).substr(std::string_view("similarity_").size()));
  const std::vector<float> left = decode_floats(arguments[0].bytes),
                           right = decode_floats(arguments[1].bytes);
  if (*kind == Similarity::cosine && (is_all_zero(left) || is_all_zero(right)))
    return invalid(fmt::format("Function {} doesn't support all-zero vectors.", function.qualified_name()));
  const float result = similarity_between(*kind, left, right);
  return kept(scratch, types::encode_float(result));
}

base::Result<FunctionPtr> make_similarity(const FactoryCall& call) {
  constexpr const char* parameters = "vector<float, n>, vector<float, n>";
  if (call.argument_types.size() != 2) return wrong_argument_count(call, parameters);
  const auto inferred = [&](size_t index) -> TypePtr {
    if (call.array_sizes[index] != 0)
      return types::vector_of(types::scalar(Kind::float_), static_cast<uint32_t>(call.array_sizes[index]));
    return call.argument_types[index];
  };
  std::vector<TypePtr> arguments = {inferred(0), inferred(1)};
  if (arguments[0] == nullptr) arguments[0] = arguments[1];
  if (arguments[1] == nullptr) arguments[1] = arguments[0];
  for (size_t i = 0; i < 2; ++i) {
    if (arguments[i] == nullptr) return unknown_argument_type(call, i, parameters);
    if (arguments[i]->kind() != Kind::vector || arguments[i]->element()->kind() != Kind::float_)
      return wrong_argument(call, i, "float vector", arguments[i]);
  }
  if (arguments[0]->dimension() != arguments[1]->dimension())
    return invalid("All arguments must have the same vector dimensions");
  return make_function(call, std::move(arguments), types::scalar(Kind::float_), similarity);
}

// --- JSON

base::Result<ValueView> to_json(const Function& function, std::span<const ValueView> arguments,
                                const Bindings&, Scratch& scratch) {
  if (!arguments[0].is_present()) return kept(scratch, "null");
  return kept(scratch, types::to_json(*function.arguments[0], arguments[0].bytes));
}

base::Result<FunctionPtr> make_to_json(const FactoryCall& call) {
  SIBYL_ASSIGN(const TypePtr type, only_argument(call, "any"));
  auto function = make_function(call, {type}, types::scalar(Kind::text), to_json);
  function->takes_nulls = true;
  return function;
}

base::Result<ValueView> parse(const Function& function, std::span<const ValueView> arguments, const Bindings&,
                              Scratch& scratch) {
  const auto node = parse_json(arguments[0].bytes);
  if (!node)
    return base::fail(function_failure(function, fmt::format("Could not decode JSON string '{}': {}",
                                                             arguments[0].bytes, node.error().message())));
  auto value = from_json(*function.returns, *node);
  if (!value)
    return base::fail(function_failure(
        function,
        fmt::format("org.apache.cassandra.serializers.MarshalException: {}", value.error().message())));
  return *value ? kept(scratch, std::move(**value)) : ValueView::null();
}

base::Result<FunctionPtr> make_from_json(const FactoryCall& call) {
  if (call.argument_types.size() != 1) return wrong_argument_count(call, "text");
  if (call.receiver_type == nullptr)
    return invalid(
        fmt::format("{}() cannot be used in the selection clause of a SELECT statement", call.name));
  const TypePtr& argument = call.argument_types[0];
  if (argument != nullptr && argument->kind() != Kind::text && argument->kind() != Kind::ascii)
    return invalid(
        fmt::format("Function system.{} requires an argument of type text, but found argument {} of type {}",
                    call.name, call.argument_texts[0], argument->cql_name()));
  return make_function(call, {types::scalar(Kind::text)}, call.receiver_type, parse);
}

}  // namespace

void add_collection_functions(FunctionRegistry& registry) {
  registry.add_factory("map_keys", make_map_side);
  registry.add_factory("map_values", make_map_side);
  registry.add_factory("collection_count", make_count);
  for (const char* name : {"collection_min", "collection_max", "collection_sum", "collection_avg"})
    registry.add_factory(name, make_aggregation);
  for (const char* name : {"similarity_cosine", "similarity_euclidean", "similarity_dot_product"})
    registry.add_factory(name, make_similarity);
}

void add_json_functions(FunctionRegistry& registry) {
  for (const char* name : {"to_json", "tojson"}) registry.add_factory(name, make_to_json);
  for (const char* name : {"from_json", "fromjson"}) registry.add_factory(name, make_from_json);
}

}  // namespace sibyl::plan
