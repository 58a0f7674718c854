// Converts CQL values to Java values and back. Internal to src/plan/java.
#pragma once

#include "base/bytes.h"
#include "plan/java/node.h"
#include "types/value.h"

namespace sibyl::plan::java {

// As Cassandra, takes an empty value for null unless it is a text or of a type that Java only passes on.
Value read_value(const Type& type, const types::Type& cql, const types::ValueView& given);
// Fails for an ascii value with other characters. REQUIRES: the value is not null.
base::Result<base::Bytes> write_value(const Type& type, const types::Type& cql, const Value& value);

}  // namespace sibyl::plan::java
