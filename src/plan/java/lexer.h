// Java's tokens. Internal to src/plan/java.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace sibyl::plan::java {

struct Token {
  enum class Kind { name, keyword, integer, floating, character, string, symbol, end };
  Kind kind = Kind::end;
  std::string text;      // as written; of strings and characters the value, in UTF-16
  std::u16string value;  // string, character
  int line = 1;

  bool is(std::string_view symbol) const {
    return (kind == Kind::symbol || kind == Kind::keyword) && text == symbol;
  }
};

// Fails for tokens that no Java source has, and for a few that this part of Java does not include.
base::Result<std::vector<Token>> tokenize(std::string_view text);

// An error of a body that is not Java or not in the supported part. `what` completes "Line 1: ".
std::unexpected<base::Error> refused(int line, const std::string& what);

}  // namespace sibyl::plan::java
