// The durable form of the schema (codec_table.h has tables): one versioned JSON text per keyspace, table,
// view, user type, function and aggregate.
//
// Records are self-contained: types are stored as trees, and user types with all their fields. So decoding
// needs no other record, and a dropped column may have a type that no longer exists. Decoding is strict: a
// missing, unknown or invalid field is an error that names it, never a default. docs/storage-format.md
// describes the fields.
#pragma once

#include <string>

#include "base/result.h"
#include "schema/schema.h"

namespace sibyl::schema {

// Version 2 added indexes, views, functions and aggregates. Version 1 can still be read.
inline constexpr int codec_version = 2;

// Properties of the store that belong to no keyspace.
struct Header {
  Bytes host_id;  // uuid, created once for a store
  Bytes version;  // Snapshot::version
  uint32_t next_storage_id = 0;
};

std::string encode(const Header& header);
// Encodes the keyspace's own properties. Its tables and types are separate records.
std::string encode(const Keyspace& keyspace);
std::string encode(const UserType& type);
std::string encode(const UserFunction& function);
std::string encode(const UserAggregate& aggregate);

base::Result<Header> decode_header(base::BytesView text);
base::Result<Keyspace> decode_keyspace(base::BytesView text);
base::Result<UserType> decode_type(base::BytesView text);
base::Result<UserFunction> decode_function(base::BytesView text);
base::Result<UserAggregate> decode_aggregate(base::BytesView text);

}  // namespace sibyl::schema
