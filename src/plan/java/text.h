// Java's strings are UTF-16. Internal to src/plan/java.
#pragma once

#include <string>
#include <string_view>

namespace sibyl::plan::java {

// REQUIRES: valid UTF-8.
std::u16string to_utf16(std::string_view utf8);
// Like Java, writes '?' for a surrogate that is not part of a pair.
std::string to_utf8(std::u16string_view utf16);

}  // namespace sibyl::plan::java
