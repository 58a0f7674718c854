// What a record key is called in messages: its table, token and partition key.
#pragma once

#include <string>

#include "base/bytes.h"
#include "schema/schema.h"

namespace sibyl::engine {

// Stands for a partition key column that has a mask, and for the token of such a key, which would give away
// guessed keys. Messages, logs and system_views have readers of every role.
inline constexpr const char* masked_key_text = "****";
bool has_masked_partition_key(const schema::Table& table);

// "films.ratings token -42, key 'Pulp Fiction'"; whatever the bytes are it says something. Masked columns of
// the key are shown as masked_key_text.
std::string name_of_key(const schema::Snapshot& schema, base::BytesView key);

}  // namespace sibyl::engine
