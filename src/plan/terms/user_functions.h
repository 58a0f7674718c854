// User-defined functions and aggregates in the form that calls use.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "plan/terms/functions.h"
#include "schema/schema.h"

namespace sibyl::plan {

struct UserAggregation {
  FunctionPtr state, final;  // `final` is nullptr if the state is the result
  std::optional<Bytes> initial;
};

// All overloads of a name, including aggregates. The lookup is recorded in `uses`. Bodies are compiled once
// per definition and kept while the schema has it.
base::Result<std::vector<FunctionPtr>> user_functions(const schema::Snapshot& schema,
                                                      const std::string& keyspace, const std::string& name,
                                                      std::vector<FunctionUse>& uses);

// The definitions behind a name. Equal results mean that nothing about the name has changed.
std::vector<std::shared_ptr<const void>> overloads_of(const schema::Snapshot& schema,
                                                      const std::string& keyspace, const std::string& name);

// The languages of functions, as in CREATE FUNCTION. Names are in lower case.
bool is_function_language(std::string_view language);
// Compiles the body to check for errors. REQUIRES: is_function_language().
base::Status check_body(const schema::UserFunction& function);

}  // namespace sibyl::plan
