// CQL's words, read with patience: for completion, where the text is never finished and often wrong.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace sibyl::shell {

struct Token {
  enum class Kind { word, quoted_name, string, number, symbol };
  Kind kind = Kind::symbol;
  std::string text;  // words as written, quoted names without quotes
  size_t start = 0, end = 0;

  bool is(std::string_view keyword) const;  // in any case
  bool is(char symbol) const { return kind == Kind::symbol && text[0] == symbol; }
  bool is_name() const { return kind == Kind::word || kind == Kind::quoted_name; }
  // As the schema has it: unquoted ones in lower case.
  std::string name() const;
};

struct Scan {
  std::vector<Token> tokens;
  // Where a string, a quoted name or a comment begins that does not end; npos when all do. The tokens end
  // there.
  size_t open = std::string_view::npos;
};
Scan scan(std::string_view text);

}  // namespace sibyl::shell
