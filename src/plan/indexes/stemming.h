// The stems of words, by the algorithms of Snowball.
#pragma once

#include <string_view>

#include "base/bytes.h"

namespace sibyl::plan {

using base::Bytes;
using base::BytesView;

// The stem of a word: `running` becomes run. Words of languages without an algorithm are returned unchanged.
// `language` is a code of two letters, as in Cassandra: `fl` is Finnish. Thread-safe.
Bytes stem_of(std::string_view language, BytesView word);

}  // namespace sibyl::plan
