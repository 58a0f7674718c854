// Converts values to blobs and back, and computes the token of a partition key.
#include "plan/functions/conversion.h"

#include <fmt/format.h>

#include "base/bytes.h"
#include "plan/terms/functions.h"
#include "types/keys/key.h"
#include "types/keys/murmur3.h"
#include "types/validate.h"

namespace sibyl::plan {

using base::invalid;
using types::Kind;
using types::TypePtr;

namespace {

base::Result<ValueView> to_blob(const Function&, std::span<const ValueView> arguments, const Bindings&,
                                Scratch&) {
  return arguments[0];
}

base::Result<ValueView> from_blob(const Function& function, std::span<const ValueView> arguments,
                                  const Bindings&, Scratch&) {
  if (!types::validate(*function.returns, arguments[0].bytes))
    return invalid(fmt::format(
        "In call to function {}, value 0x{} is not a valid binary representation for type {}",
        function.qualified_name(), base::to_hex(arguments[0].bytes), function.returns->cql_name()));
  return arguments[0];
}

base::Result<ValueView> token(const Function&, std::span<const ValueView> arguments, const Bindings&,
                              Scratch& scratch) {
  std::vector<BytesView> components;
  for (const ValueView& argument : arguments) components.push_back(argument.bytes);
  const Bytes key = types::serialise_partition_key(components);
  return kept(scratch, types::encode_int64(types::murmur3_token(key)));
}

base::Result<FunctionPtr> make_token(const FactoryCall& call) {
  if (call.table == nullptr)
    return invalid("No receiver keyspace has been specified for function system.token");
  auto function = std::make_shared<Function>();
  function->name = "token";
  function->returns = types::scalar(Kind::bigint);
  for (size_t i = 0; i < call.table->partition_key_count; ++i)
    function->arguments.push_back(call.table->partition_key(i).type);
  function->evaluate = token;
  function->from_factory = true;
  function->takes_empty = true;  // a part of a composite key may be empty, of any type
  return function;
}

}  // namespace

void add_conversion_functions(FunctionRegistry& registry) {
  static constexpr const char* names[] = {"ascii",    "bigint",   "boolean",  "counter", "date",
                                          "decimal",  "double",   "duration", "float",   "inet",
                                          "int",      "smallint", "text",     "time",    "timestamp",
                                          "timeuuid", "tinyint",  "uuid",     "varchar", "varint"};
  for (const char* name : names) {
    const TypePtr type = types::scalar_by_name(name);
    for (const char* infix : {"_as_", "as"}) {
      const bool is_old = infix[0] == 'a';
      Function to;
      to.name = fmt::format("{}{}blob", name, infix);
      to.arguments = {type};
      to.returns = types::scalar(Kind::blob);
      to.evaluate = to_blob;
      to.takes_empty = true;
      registry.add(std::move(to));
      Function from;
      from.name = fmt::format("{}{}", is_old ? "blobas" : "blob_as_", name);
      from.arguments = {types::scalar(Kind::blob)};
      from.returns = type;
      from.evaluate = from_blob;
      registry.add(std::move(from));
    }
  }
  registry.add_factory("token", make_token);
}

}  // namespace sibyl::plan
