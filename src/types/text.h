// UTF-8, as Java's decoder judges it: no overlong forms, no surrogates, nothing above U+10FFFF.
#pragma once

#include "base/bytes.h"

namespace sibyl::types {

bool is_utf8(base::BytesView bytes);

}  // namespace sibyl::types
