// How large types from users may be.
#pragma once

#include <string>

#include "base/result.h"
#include "types/type.h"

namespace sibyl::plan {

// Refuses types that nest too deep or hold too many values. `name`: for the message.
base::Status check_type_size(const types::Type& type, const std::string& name);

}  // namespace sibyl::plan
