// Describes record keys in messages: table, token and partition key.
#pragma once

#include <string>

#include "base/bytes.h"
#include "schema/schema.h"

namespace sibyl::engine {

// Shown instead of a masked partition key column. Also shown instead of the token of such a key, because a
// token can confirm a guess. Users of every role can read messages, logs and system_views.
inline constexpr const char* masked_key_text = "****";
bool has_masked_partition_key(const schema::Table& table);

// Returns for example "films.ratings token -42, key 'Pulp Fiction'". Accepts any bytes. Masked columns of the
// key are shown as masked_key_text.
std::string name_of_key(const schema::Snapshot& schema, base::BytesView key);

}  // namespace sibyl::engine
