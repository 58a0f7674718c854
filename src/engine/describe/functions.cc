// Prints functions and aggregates as CREATE statements.
#include "engine/describe/functions.h"

#include <fmt/format.h>

#include "engine/describe/qualified_name.h"
#include "types/identifier.h"
#include "types/print_value.h"

namespace sibyl::engine {
namespace {

using types::quote_identifier;

// frozen<> is omitted from top-level types, because a function accepts both forms.
std::string type_text(const types::Type& type) {
  constexpr std::string_view frozen = "frozen<";
  std::string name = type.cql_name();
  return name.starts_with(frozen) ? name.substr(frozen.size(), name.size() - frozen.size() - 1) : name;
}

// A body that contains $$ cannot be quoted with $$.
std::string body_text(const std::string& body) {
  const bool has_dollars = body.find("$$") != std::string::npos || body.ends_with('$');
  return has_dollars ? types::quote_string(body) : "$$" + body + "$$";
}

}  // namespace

std::string function_signature(const std::string& name, const std::vector<types::TypePtr>& argument_types) {
  std::string out = quote_identifier(name) + "(";
  for (size_t i = 0; i < argument_types.size(); ++i) out += (i ? ", " : "") + type_text(*argument_types[i]);
  return out + ")";
}

std::string describe_function(const schema::UserFunction& function) {
  std::string arguments;
  for (size_t i = 0; i < function.argument_names.size(); ++i)
    arguments += fmt::format("{}{} {}", i ? ", " : "", quote_identifier(function.argument_names[i]),
                             type_text(*function.argument_types[i]));
  return fmt::format(
      "CREATE FUNCTION {}({})\n    {} ON NULL INPUT\n    RETURNS {}\n    LANGUAGE {}\n    AS {};",
      qualified_name(function.keyspace, function.name), arguments,
      function.called_on_null_input ? "CALLED" : "RETURNS NULL", type_text(*function.return_type),
      function.language, body_text(function.body));
}

std::string describe_aggregate(const schema::UserAggregate& aggregate) {
  std::string out =
      fmt::format("CREATE AGGREGATE {}.{}\n    SFUNC {}\n    STYPE {}", quote_identifier(aggregate.keyspace),
                  function_signature(aggregate.name, aggregate.argument_types),
                  quote_identifier(aggregate.state_function), type_text(*aggregate.state_type));
  if (!aggregate.final_function.empty())
    out += fmt::format("\n    FINALFUNC {}", quote_identifier(aggregate.final_function));
  if (aggregate.initial_condition)
    out += fmt::format("\n    INITCOND {}",
                       types::to_literal(*aggregate.state_type, *aggregate.initial_condition));
  return out + ";";
}

}  // namespace sibyl::engine
