// Text normalisation for comparisons that ignore case, composition or accents.
#pragma once

#include "base/bytes.h"

namespace sibyl::types {

using base::Bytes;
using base::BytesView;

// All functions require valid UTF-8 and return valid UTF-8. Case rules are those of the root locale.
Bytes lower_case(BytesView text);
Bytes upper_case(BytesView text);
// Unicode normal form C.
Bytes compose(BytesView text);
// Replaces Latin letters and signs by ASCII: `é` becomes e, `ß` ss, `Æ` AE. Other scripts are unchanged.
Bytes fold_to_ascii(BytesView text);

}  // namespace sibyl::types
