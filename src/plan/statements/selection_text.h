// Selectors as text.
#pragma once

#include <string>

#include "plan/terms/term.h"

namespace sibyl::plan {

// The name of a selector's result column. REQUIRES: `binder` has bound it and still has its
// scope.
std::string result_name(const cql::Expression& expression, const schema::Table& table, Binder& binder);
// Returns a selector as it is spelled in messages. This is result_name(), except for casts to the type that
// the operand already has.
std::string selector_text(const cql::Expression& expression, const schema::Table& table,
                          const Binder& binder);

}  // namespace sibyl::plan
