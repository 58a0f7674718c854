// Values of marshal classes as text. Internal to src/types/literals.
#pragma once

#include <string_view>

#include "base/result.h"
#include "types/value.h"

namespace sibyl::types {

// A UUID, or the components of a composite separated by colons. Each component of a dynamic composite is
// written alias@value or Class@value. REQUIRES: find_custom_class(type).
base::Result<Bytes> parse_custom(const Type& type, std::string_view text);

}  // namespace sibyl::types
