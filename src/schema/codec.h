// The durable form of the schema: one versioned JSON text per keyspace, table and user type.
//
// A record stands alone: types are trees, user types with all their fields, so that decoding needs no other
// record and a dropped column may keep a type that is gone. Decoding is strict: a missing, unknown or wrong
// field is an error that names it, never a default. docs/storage-format.md describes the fields.
#pragma once

#include <string>

#include "base/result.h"
#include "schema/schema.h"

namespace sibyl::schema {

inline constexpr int codec_version = 1;

// What belongs to no keyspace.
struct Header {
  Bytes host_id;  // uuid, made once for a store
  Bytes version;  // Snapshot's
  uint32_t next_storage_id = 0;
};

std::string encode(const Header& header);
// The keyspace's own properties; its tables and types are records of their own.
std::string encode(const Keyspace& keyspace);
std::string encode(const Table& table);
std::string encode(const UserType& type);

base::Result<Header> decode_header(base::BytesView text);
base::Result<Keyspace> decode_keyspace(base::BytesView text);
base::Result<Table> decode_table(base::BytesView text);  // finished
base::Result<UserType> decode_type(base::BytesView text);

}  // namespace sibyl::schema
