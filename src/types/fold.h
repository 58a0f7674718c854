// Texts made alike: for comparisons that shall not see case, composition or accents.
#pragma once

#include "base/bytes.h"

namespace sibyl::types {

using base::Bytes;
using base::BytesView;

// All REQUIRE valid UTF-8 and keep it so. Case is the root locale's.
Bytes lower_case(BytesView text);
Bytes upper_case(BytesView text);
// Unicode's normal form C.
Bytes compose(BytesView text);
// Latin letters and signs as plain ASCII: `é` becomes e, `ß` ss, `Æ` AE. Other scripts stay.
Bytes fold_to_ascii(BytesView text);

}  // namespace sibyl::types
