// Types in result metadata.
#pragma once

#include <string_view>

#include "base/result.h"
#include "protocol/version.h"
#include "protocol/wire.h"
#include "types/type.h"

namespace sibyl::protocol {

// Appends a type. A type without a number in the version is sent as `custom` with Cassandra's class name, as
// Cassandra does: vectors always; duration before v5; date, time, smallint and tinyint before v4.
void append_type(Bytes& out, Version version, const types::Type& type);

// Decodes a type. Class names of CQL types become those types; others stay custom. Returns nullptr on
// failure.
types::TypePtr read_type(WireReader& reader, Version version);

// Parses a class name such as
// `org.apache.cassandra.db.marshal.VectorType(org.apache.cassandra.db.marshal.FloatType , 3)`. Returns
// nullptr if it is not the class name of a CQL type.
types::TypePtr type_by_class_name(std::string_view name);

}  // namespace sibyl::protocol
