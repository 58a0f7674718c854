// The words of a text, as the tokenizing analyzers of SASI see them.
#pragma once

#include <vector>

#include "base/bytes.h"

namespace sibyl::plan {

using base::Bytes;
using base::BytesView;

// All functions require valid UTF-8.

// The words of Unicode Standard Annex 29, as Cassandra's StandardAnalyzer finds them: runs of letters and
// digits. Every Han or Hiragana character is a word. Runs of Thai, Lao, Khmer and Burmese are not divided.
// Words of more than 255 UTF-16 units are left out.
std::vector<Bytes> standard_words(BytesView text);

// The non-empty parts between delimiters. `delimiter` is one UTF-8 character.
std::vector<Bytes> delimited_words(BytesView text, BytesView delimiter);

}  // namespace sibyl::plan
