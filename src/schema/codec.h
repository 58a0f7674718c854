// The durable form of the schema: one versioned JSON text per keyspace, table, view, user type, function
// and aggregate.
//
// A record stands alone: types are trees, user types with all their fields, so that decoding needs no other
// record and a dropped column may keep a type that is gone. Decoding is strict: a missing, unknown or wrong
// field is an error that names it, never a default. docs/storage-format.md describes the fields.
#pragma once

#include <string>

#include "base/result.h"
#include "schema/schema.h"

namespace sibyl::schema {

// Version 2 brought indexes, views, functions and aggregates; version 1 is read as well.
inline constexpr int codec_version = 2;

// What belongs to no keyspace.
struct Header {
  Bytes host_id;  // uuid, made once for a store
  Bytes version;  // Snapshot's
  uint32_t next_storage_id = 0;
};

std::string encode(const Header& header);
// The keyspace's own properties; its tables and types are records of their own.
std::string encode(const Keyspace& keyspace);
std::string encode(const Table& table);  // without its views: each is a record of its own
std::string encode(const UserType& type);
std::string encode(const UserFunction& function);
std::string encode(const UserAggregate& aggregate);

base::Result<Header> decode_header(base::BytesView text);
base::Result<Keyspace> decode_keyspace(base::BytesView text);
base::Result<Table> decode_table(base::BytesView text);  // finished
base::Result<UserType> decode_type(base::BytesView text);
base::Result<UserFunction> decode_function(base::BytesView text);
base::Result<UserAggregate> decode_aggregate(base::BytesView text);

}  // namespace sibyl::schema
