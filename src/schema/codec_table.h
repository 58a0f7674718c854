// The durable form of tables (codec.h).
#pragma once

#include <string>

#include "base/result.h"
#include "schema/schema.h"

namespace sibyl::schema {

std::string encode(const Table& table);                  // without its views, which are separate records
base::Result<Table> decode_table(base::BytesView text);  // finish() was called

}  // namespace sibyl::schema
