#include "advisor/workload/tokens.h"

#include <fmt/format.h>

#include <algorithm>

#include "advisor/workload/workload.h"
#include "base/ascii.h"

namespace sibyl::advisor {
namespace {

bool is_word_start(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '*';
}

// Units and multiplicities are parts of words: 160/s, many-many, 1e-3, 99%.
bool is_word_part(std::string_view text, size_t at) {
  const char c = text[at];
  if (is_word_start(c) || c == '.' || c == '%') return true;
  if (c != '/' && c != '-' && c != '+') return false;
  if (c == '+' && text[at - 1] != 'e' && text[at - 1] != 'E') return false;
  return at + 1 < text.size() && is_word_start(text[at + 1]);
}

// The position after a quoted string, in which two quotes stand for one; npos if it is not terminated.
size_t quoted_end(std::string_view text, size_t at) {
  const char quote = text[at];
  for (size_t end = at + 1; end < text.size(); ++end) {
    if (text[end] != quote) continue;
    if (end + 1 == text.size() || text[end + 1] != quote) return end + 1;
    ++end;
  }
  return std::string_view::npos;
}

bool begins_name(std::string_view text, size_t at) {
  return text[at] == '"' && quoted_end(text, at) != std::string_view::npos;
}

// A quoted name is a word. It may also follow a dot: shop."Order".
size_t word_end(std::string_view text, size_t at) {
  size_t end = text[at] == '"' ? quoted_end(text, at) : at + 1;
  while (end < text.size()) {
    if (text[end - 1] == '.' && begins_name(text, end))
      end = quoted_end(text, end);
    else if (is_word_part(text, end))
      ++end;
    else
      break;
  }
  return end;
}

void tokenize_line(const CommentLine& line, std::vector<Token>& tokens) {
  const std::string_view text = line.text;
  size_t at = 0;
  while (at < text.size()) {
    const char c = text[at];
    if (c == ' ' || c == '\t' || c == '\r') {
      ++at;
      continue;
    }
    Token token;
    token.line = line.line;
    token.column = line.column + static_cast<uint32_t>(at);
    size_t end = at + 1;
    if (is_word_start(c) || begins_name(text, at)) {
      token.kind = Token::Kind::word;
      end = word_end(text, at);
    } else if (c == '\'') {
      token.kind = Token::Kind::text;
      end = std::min(quoted_end(text, at), text.size());
    } else if (c == '?' || (c == ':' && at + 1 < text.size() && is_word_start(text[at + 1]))) {
      token.kind = Token::Kind::marker;
      while (c == ':' && end < text.size() && is_word_start(text[end])) ++end;
    } else {
      token.kind = Token::Kind::sign;
      const std::string_view two = text.substr(at, 2);
      if (two == "->" || two == ">=" || two == "<=") end = at + 2;
    }
    token.text = text.substr(at, end - at);
    tokens.push_back(std::move(token));
    at = end;
  }
}

}  // namespace

std::vector<std::string> name_parts(std::string_view text) {
  std::vector<std::string> parts(1);
  bool quoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '.' && !quoted) {
      parts.emplace_back();
    } else if (text[i] != '"') {
      parts.back() += text[i];
    } else if (quoted && i + 1 < text.size() && text[i + 1] == '"') {
      parts.back() += text[++i];
    } else {
      quoted = !quoted;
    }
  }
  return parts;
}

std::vector<Token> tokenize(const std::vector<CommentLine>& lines) {
  std::vector<Token> tokens;
  for (const CommentLine& line : lines) tokenize_line(line, tokens);
  Token end;
  if (!lines.empty()) {
    end.line = lines.back().line;
    end.column = lines.back().column + static_cast<uint32_t>(lines.back().text.size());
  }
  tokens.push_back(std::move(end));
  return tokens;
}

const Token& TokenReader::next() {
  const Token& token = peek();
  if (at_ + 1 < tokens_.size()) ++at_;
  return token;
}

bool TokenReader::is_sign(std::string_view sign, size_t ahead) const {
  return peek(ahead).kind == Token::Kind::sign && peek(ahead).text == sign;
}

bool TokenReader::is_word(std::string_view word, size_t ahead) const {
  return peek(ahead).kind == Token::Kind::word && base::equal_ignoring_case(peek(ahead).text, word);
}

bool TokenReader::take_sign(std::string_view sign) {
  if (!is_sign(sign)) return false;
  next();
  return true;
}

bool TokenReader::take_word(std::string_view word) {
  if (!is_word(word)) return false;
  next();
  return true;
}

base::Result<Token> TokenReader::expect_word(std::string_view what) {
  if (peek().kind != Token::Kind::word) return expected(what);
  return next();
}

base::Status TokenReader::expect_sign(std::string_view sign) {
  if (!take_sign(sign)) return expected(fmt::format("'{}'", sign));
  return {};
}

base::Status TokenReader::expect_keyword(std::string_view word) {
  if (!take_word(word)) return expected(word);
  return {};
}

base::Status TokenReader::expect_end() {
  if (!at_end()) return expected("the end of the directive");
  return {};
}

std::unexpected<base::Error> TokenReader::fail(const Token& at, std::string message) const {
  return base::fail(
      base::Error(base::ErrorCode::syntax, fmt::format("{}:{}:{}: {}", file_, at.line, at.column, message))
          .at({at.line, at.column - 1, 0}));
}

std::unexpected<base::Error> TokenReader::expected(std::string_view what) const {
  const std::string found = at_end() ? "the end of the directive" : fmt::format("'{}'", peek().text);
  return fail(peek(), fmt::format("expected {}, found {}", what, found));
}

std::unexpected<base::Error> TokenReader::unknown(const Token& at, std::string_view kind,
                                                  std::string_view word,
                                                  const std::vector<std::string>& candidates) const {
  auto error = fail(at, fmt::format("unknown {} '{}'", kind, word));
  const std::string similar = nearest(word, candidates);
  if (!similar.empty())
    return base::fail(error.error().with_hint(fmt::format("did you mean '{}'?", similar)));
  if (candidates.empty() || candidates.size() > 20) return error;
  return base::fail(error.error().with_hint(fmt::format("expected one of {}", fmt::join(candidates, ", "))));
}

}  // namespace sibyl::advisor
