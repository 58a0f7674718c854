// Functions and aggregates as CREATE statements.
#pragma once

#include <string>
#include <vector>

#include "schema/schema.h"

namespace sibyl::engine {

std::string describe_function(const schema::UserFunction& function);
std::string describe_aggregate(const schema::UserAggregate& aggregate);
// `name(int, text)`, as in the name column of the result.
std::string function_signature(const std::string& name, const std::vector<types::TypePtr>& argument_types);

}  // namespace sibyl::engine
