// Limits for the size of user-defined types.
#pragma once

#include <string>

#include "base/result.h"
#include "types/type.h"

namespace sibyl::plan {

// Refuses types that nest too deeply or contain too many values. `name` is used in the message.
base::Status check_type_size(const types::Type& type, const std::string& name);

}  // namespace sibyl::plan
