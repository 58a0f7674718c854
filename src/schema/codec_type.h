// Types in the schema's durable form. Internal to the codec.
#pragma once

#include <vector>

#include "schema/codec_json.h"

namespace sibyl::schema {

json::value encode_type(const types::Type& type);
json::array encode_types(const std::vector<TypePtr>& list);

base::Result<TypePtr> decode_type_tree(const json::value& value);
base::Result<std::vector<TypePtr>> decode_types(const json::array& list);
// Reads a field that is a type.
base::Status read_type(ObjectReader& reader, std::string_view name, TypePtr& out);

}  // namespace sibyl::schema
