// Types as result metadata describes them.
#pragma once

#include <string_view>

#include "base/result.h"
#include "protocol/version.h"
#include "protocol/wire.h"
#include "types/type.h"

namespace sibyl::protocol {

// A type that the version has no number for goes as `custom` with Cassandra's class name, as Cassandra sends
// it: vectors always, duration before v5, date, time, smallint and tinyint before v4.
void append_type(Bytes& out, Version version, const types::Type& type);

// The inverse. Class names that are types of ours become those types; others stay custom. nullptr after a
// failure.
types::TypePtr read_type(WireReader& reader, Version version);

// `org.apache.cassandra.db.marshal.VectorType(org.apache.cassandra.db.marshal.FloatType , 3)` and its like;
// nullptr when it is no class name of a CQL type.
types::TypePtr type_by_class_name(std::string_view name);

}  // namespace sibyl::protocol
