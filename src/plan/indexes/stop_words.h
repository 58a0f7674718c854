// Frequent words that an index leaves out on request.
#pragma once

#include <string_view>

namespace sibyl::plan {

// `language` is a code of two letters. Returns false for languages without a list. Thread-safe.
bool is_stop_word(std::string_view language, std::string_view word);

}  // namespace sibyl::plan
