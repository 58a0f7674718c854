// Expressions as text, for messages.
#pragma once

#include <string>

#include "cql/ast.h"

namespace sibyl::plan {

// An expression as spelled in Cassandra's error texts.
std::string text_of(const cql::Expression& expression);

}  // namespace sibyl::plan
