#include "cql/redact.h"

#include "cql/lexer.h"

namespace sibyl::cql {

std::string without_literals(std::string_view text) {
  constexpr size_t most = 4096;
  if (find_invalid_utf8(text) != std::string_view::npos) return "…";
  std::string out;
  Lexer lexer(text);
  for (;;) {
    const Token token = lexer.next_raw();
    switch (token.kind) {
      case TokenKind::end:
        return out;
      case TokenKind::error:
        return out + "…";
      case TokenKind::comment:
        break;
      case TokenKind::whitespace:
        if (!out.empty() && out.back() != ' ') out += ' ';
        break;
      case TokenKind::string:
      case TokenKind::integer:
      case TokenKind::floating:
      case TokenKind::boolean:
      case TokenKind::duration:
      case TokenKind::uuid:
      case TokenKind::blob:
        out += '?';
        break;
      default:
        out += lexer.raw(token);
    }
    if (out.size() > most) return out + "…";
  }
}

}  // namespace sibyl::cql
