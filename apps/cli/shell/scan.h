// A tolerant CQL scanner for completion, where the text is incomplete and often invalid.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace sibyl::cli::shell {

struct Token {
  enum class Kind { word, quoted_name, string, number, symbol };
  Kind kind = Kind::symbol;
  std::string text;  // the word as written; the name without quotes
  size_t start = 0, end = 0;

  bool is(std::string_view keyword) const;  // ignores case
  bool is(char symbol) const { return kind == Kind::symbol && text[0] == symbol; }
  bool is_name() const { return kind == Kind::word || kind == Kind::quoted_name; }
  // The name as in the schema: unquoted names in lower case.
  std::string name() const;
};

struct Scan {
  std::vector<Token> tokens;
  // Start of a string, a quoted name or a comment that is not closed; npos if there is none. The tokens end
  // there.
  size_t open = std::string_view::npos;
};
Scan scan(std::string_view text);

// Returns true for letters, digits and the underscore.
bool is_word(char c);

}  // namespace sibyl::cli::shell
