#include "cql/syntax_error.h"

#include <algorithm>
#include <string>
#include <vector>

#include "types/text.h"

namespace sibyl::cql {
namespace {

// Cassandra measures in UTF-16 units.
std::u16string to_utf16(std::string_view text) {
  std::u16string result;
  result.reserve(text.size());
  for (size_t i = 0; i < text.size();) {
    const auto byte = [&](size_t k) {
      return static_cast<uint32_t>(static_cast<unsigned char>(text[i + k]));
    };
    const uint32_t c = byte(0);
    if (c < 0x80) {
      result += static_cast<char16_t>(c);
      i += 1;
    } else if (c < 0xE0) {
      result += static_cast<char16_t>((c & 0x1F) << 6 | (byte(1) & 0x3F));
      i += 2;
    } else if (c < 0xF0) {
      result += static_cast<char16_t>((c & 0x0F) << 12 | (byte(1) & 0x3F) << 6 | (byte(2) & 0x3F));
      i += 3;
    } else {
      const uint32_t point =
          ((c & 0x07) << 18 | (byte(1) & 0x3F) << 12 | (byte(2) & 0x3F) << 6 | (byte(3) & 0x3F)) - 0x10000;
      result += static_cast<char16_t>(0xD800 + (point >> 10));
      result += static_cast<char16_t>(0xDC00 + (point & 0x3FF));
      i += 4;
    }
  }
  return result;
}

void append_code_point(std::string& result, uint32_t c) {
  if (c < 0x80) {
    result += static_cast<char>(c);
  } else if (c < 0x800) {
    result += static_cast<char>(0xC0 | c >> 6);
    result += static_cast<char>(0x80 | (c & 0x3F));
  } else if (c < 0x10000) {
    result += static_cast<char>(0xE0 | c >> 12);
    result += static_cast<char>(0x80 | (c >> 6 & 0x3F));
    result += static_cast<char>(0x80 | (c & 0x3F));
  } else {
    result += static_cast<char>(0xF0 | c >> 18);
    result += static_cast<char>(0x80 | (c >> 12 & 0x3F));
    result += static_cast<char>(0x80 | (c >> 6 & 0x3F));
    result += static_cast<char>(0x80 | (c & 0x3F));
  }
}

// Half a surrogate pair, which shortening may leave, becomes '?'.
std::string to_utf8(std::u16string_view text) {
  std::string result;
  result.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    const uint32_t c = text[i];
    const bool pair =
        c >= 0xD800 && c < 0xDC00 && i + 1 < text.size() && text[i + 1] >= 0xDC00 && text[i + 1] < 0xE000;
    if (pair) {
      append_code_point(result, 0x10000 + ((c - 0xD800) << 10) + (text[++i] - 0xDC00U));
    } else {
      append_code_point(result, c >= 0xD800 && c < 0xE000 ? '?' : c);
    }
  }
  return result;
}

// Like Java's split at line ends: empty lines at the end are dropped.
std::vector<std::u16string> split_lines(const std::u16string& text) {
  std::vector<std::u16string> lines;
  size_t from = 0;
  while (true) {
    const size_t end = text.find(u'\n', from);
    lines.push_back(text.substr(from, end - from));
    if (end == std::u16string::npos) break;
    from = end + 1;
  }
  while (lines.size() > 1 && lines.back().empty()) lines.pop_back();
  return lines;
}

struct Span {
  size_t line, column,
      end;  // from 0; `end` is the column after the token, by Cassandra's count of its length
};

Span span_of(std::string_view text, const Token& token) {
  // Cassandra counts strings and quoted names without their quotes, so the brackets are misplaced. Clients
  // expect that.
  const size_t length = to_utf16(token_text(text, token)).size();
  return {token.line - 1U, token.column, token.column + length};
}

// The snippet extends from ten tokens before the shown token to two after it, but not beyond the last token
// that the parser has read. White space and comments count as tokens.
std::string snippet(std::string_view text, const Token& shown, uint32_t seen) {
  constexpr size_t before = 10, behind = 2;
  std::vector<Token> tokens;
  size_t index = 0;
  Lexer lexer(text);
  for (Token token = lexer.next_raw(); token.kind != TokenKind::end; token = lexer.next_raw()) {
    if (token.offset > std::max(seen, shown.offset)) break;
    if (token.offset == shown.offset) index = tokens.size();
    tokens.push_back(token);
  }
  if (tokens.empty() || shown.kind == TokenKind::end) return "";
  const bool reached_end = seen >= text.size();  // the end is a token without a position
  const size_t last = index + behind;
  if (reached_end && last >= tokens.size()) return "";
  const Span from = span_of(text, tokens[index > before ? index - before : 0]);
  const Span to = span_of(text, tokens[std::min(last, tokens.size() - 1)]);
  const Span at = span_of(text, tokens[index]);

  std::vector<std::u16string> lines = split_lines(to_utf16(text));
  const bool starts_query = from.line == 0 && from.column == 0;
  const bool ends_query = to.line + 1 == lines.size() && to.end == lines.back().size();
  if (to.line >= lines.size()) return "";
  if (to.end < lines[to.line].size()) lines[to.line].resize(to.end);
  std::u16string& line = lines[at.line];
  line.insert(std::min(at.end, line.size()), 1, u']');
  line.insert(std::min(at.column, line.size()), 1, u'[');
  lines[from.line].erase(0, from.column);

  std::u16string result = starts_query ? u"" : u"...";
  for (size_t i = from.line; i <= to.line; ++i) result += lines[i];
  if (!ends_query) result += u"...";
  return " (" + to_utf8(result) + ")";
}

}  // namespace

std::string bounded(std::string message) {
  constexpr size_t most = 4096;
  if (message.size() <= most) return message;
  message.resize(types::whole_characters(message, most).size());
  return message + "...";
}

std::string shown_token(std::string_view text, const Token& token) {
  if (token.kind == TokenKind::end) return "'<EOF>'";
  std::string result = "'";
  for (const char c : token_text(text, token)) {
    switch (c) {
      case '\n':
        result += "\\n";
        break;
      case '\r':
        result += "\\r";
        break;
      case '\t':
        result += "\\t";
        break;
      default:
        result += c;
        break;
    }
  }
  return result + "'";
}

base::Error make_syntax_error(std::string_view text, const SyntaxErrorPlace& place, std::string_view what) {
  // Cassandra's end token has no position; clients expect "line 0:-1".
  const bool at_end = place.at.kind == TokenKind::end;
  std::string message =
      at_end ? "line 0:-1 "
             : "line " + std::to_string(place.at.line) + ":" + std::to_string(place.at.column) + " ";
  message += what;
  message += snippet(text, place.shown, place.seen);
  return base::Error(base::ErrorCode::syntax, bounded(std::move(message))).at(place.at.position());
}

}  // namespace sibyl::cql
