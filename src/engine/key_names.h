// What a record key is called in messages: its table, token and partition key.
#pragma once

#include <string>

#include "base/bytes.h"
#include "schema/schema.h"

namespace sibyl::engine {

// "films.ratings token -42, key 'Pulp Fiction'"; whatever the bytes are it says something.
std::string name_of_key(const schema::Snapshot& schema, base::BytesView key);

}  // namespace sibyl::engine
