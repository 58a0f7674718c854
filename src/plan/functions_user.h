// Functions and aggregates that users defined, as calls see them.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "plan/functions.h"
#include "schema/schema.h"

namespace sibyl::plan {

struct UserAggregation {
  FunctionPtr state, final;  // final: nullptr when the state is the result
  std::optional<Bytes> initial;
};

// The overloads of a name, aggregates too; what was looked at is added to `uses`. Bodies are compiled once
// per definition and kept as long as the schema has it.
base::Result<std::vector<FunctionPtr>> user_functions(const schema::Snapshot& schema,
                                                      const std::string& keyspace, const std::string& name,
                                                      std::vector<FunctionUse>& uses);

// Adds to `uses` that a call means this function, if it is a user's: as `name[int, text]`, which is no
// function's name, since those have no brackets.
void add_call(const schema::Snapshot& schema, const Function& function, std::vector<FunctionUse>& uses);
// The signature (schema::signature_of) of what a call means; empty when the use is of a name.
std::string called_signature(const FunctionUse& use);

// The definitions behind the name of a use: the same as long as nothing about it changed.
std::vector<std::shared_ptr<const void>> overloads_of(const schema::Snapshot& schema,
                                                      const std::string& keyspace, const std::string& name);

// Compiles the body, for its errors.
base::Result<std::shared_ptr<const LuaFunction>> compile(const schema::UserFunction& function);

}  // namespace sibyl::plan
