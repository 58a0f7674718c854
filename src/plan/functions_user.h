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

// The definitions behind them: the same as long as nothing about the name changed.
std::vector<std::shared_ptr<const void>> overloads_of(const schema::Snapshot& schema,
                                                      const std::string& keyspace, const std::string& name);

// Compiles the body, for its errors.
base::Result<std::shared_ptr<const LuaFunction>> compile(const schema::UserFunction& function);

}  // namespace sibyl::plan
