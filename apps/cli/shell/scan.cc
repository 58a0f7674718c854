#include "cli/shell/scan.h"

#include <cctype>

#include "base/ascii.h"
#include "cli/command_line/text.h"
#include "cli/shell/script.h"

namespace sibyl::cli::shell {
namespace {

// Reads the token at `offset`. Its end is npos if a quote is not closed.
Token read_token(std::string_view text, size_t offset) {
  Token token;
  token.start = offset;
  const char c = text[offset];
  if (c == '\'' || c == '"' || text.substr(offset).starts_with("$$")) {
    token.kind = c == '"' ? Token::Kind::quoted_name : Token::Kind::string;
    const size_t quote = c == '$' ? 2 : 1;
    const size_t close = text.find(text.substr(offset, quote), offset + quote);
    token.end = close == std::string_view::npos ? close : close + quote;
    if (close != std::string_view::npos) token.text = text.substr(offset + quote, close - offset - quote);
    return token;
  }
  token.end = offset + 1;
  if (is_word(c))
    while (token.end < text.size() && is_word(text[token.end])) ++token.end;
  const bool digit = std::isdigit(static_cast<unsigned char>(c)) != 0;
  token.kind = digit ? Token::Kind::number : is_word(c) ? Token::Kind::word : Token::Kind::symbol;
  token.text = text.substr(offset, token.end - offset);
  return token;
}

}  // namespace

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

bool Token::is(std::string_view keyword) const {
  return kind == Kind::word && base::equal_ignoring_case(text, keyword);
}

std::string Token::name() const {
  return kind == Kind::word ? base::ascii_lower(text) : text;
}

Scan scan(std::string_view text) {
  Scan result;
  for (size_t offset = 0; true;) {
    const size_t start = skip_blank(text, offset);
    if (start == std::string_view::npos) {
      result.open = offset;
      return result;
    }
    if (start >= text.size()) {
      // Inside a line comment, further input has no effect.
      const std::string typed = std::string(text.substr(offset)) + 'x';
      if (skip_blank(typed, 0) == typed.size()) result.open = offset;
      return result;
    }
    Token token = read_token(text, start);
    if (token.end == std::string_view::npos) {
      result.open = start;
      return result;
    }
    offset = token.end;
    result.tokens.push_back(std::move(token));
  }
}

}  // namespace sibyl::cli::shell
