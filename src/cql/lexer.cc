#include "cql/lexer.h"

#include <algorithm>
#include <array>

#include "base/ascii.h"

namespace sibyl::cql {
namespace {

constexpr uint8_t space_bit = 1, digit_bit = 2, letter_bit = 4, word_bit = 8, hex_bit = 16;

constexpr auto classes = [] {
  std::array<uint8_t, 256> table{};
  for (const char c : {' ', '\t', '\n', '\r'}) table[static_cast<unsigned char>(c)] |= space_bit;
  for (int c = '0'; c <= '9'; ++c) table[static_cast<size_t>(c)] |= digit_bit | word_bit | hex_bit;
  for (int c = 'a'; c <= 'z'; ++c) {
    const uint8_t bits = letter_bit | word_bit | (c <= 'f' ? hex_bit : 0);
    table[static_cast<size_t>(c)] |= bits;
    table[static_cast<size_t>(c - 32)] |= bits;
  }
  table['_'] |= word_bit;
  return table;
}();

bool is(char c, uint8_t bits) {
  return (classes[static_cast<unsigned char>(c)] & bits) != 0;
}

bool matches_word(std::string_view text, uint32_t from, std::string_view lower_case) {
  if (text.size() - from < lower_case.size()) return false;
  for (size_t i = 0; i < lower_case.size(); ++i) {
    if (base::ascii_lower(text[from + i]) != lower_case[i]) return false;
  }
  const size_t end = from + lower_case.size();
  return end == text.size() || !is(text[end], word_bit);
}

bool is_uuid_dash(uint32_t index) {
  return index == 8 || index == 13 || index == 18 || index == 23;
}

// The character at `offset` as shown in error texts.
std::string shown_character(std::string_view text, size_t offset) {
  if (offset >= text.size()) return "<EOF>";
  switch (text[offset]) {
    case '\n':
      return "\\n";
    case '\r':
      return "\\r";
    case '\t':
      return "\\t";
    default:
      break;
  }
  return std::string(text.substr(offset, types::next_character(text, offset + 1) - offset));
}

}  // namespace

Token Lexer::next() {
  while (true) {
    const Token token = next_raw();
    if (token.kind != TokenKind::whitespace && token.kind != TokenKind::comment) return token;
  }
}

Token Lexer::next_raw() {
  Token token;
  token.offset = offset_;
  token.line = line_;
  token.column = column_;
  if (offset_ >= text_.size()) return token;

  const char c = text_[offset_];
  if (is(c, letter_bit)) return word(token);
  if (is(c, space_bit)) {
    uint32_t end = offset_ + 1;
    while (end < text_.size() && is(text_[end], space_bit)) ++end;
    return finish(token, TokenKind::whitespace, end);
  }
  if (is(c, digit_bit)) return number(token);
  switch (c) {
    case '\'':
      return quoted(token, '\'');
    case '"':
      return quoted(token, '"');
    case '$':
      return dollar_string(token);
    case '-':
      return minus(token);
    case '/':
      return slash(token);
    default:
      return punctuation(token);
  }
}

Token Lexer::finish(Token token, TokenKind kind, uint32_t end) {
  token.kind = kind;
  token.length = end - token.offset;
  // Only these can contain line ends or non-ASCII characters.
  if (kind == TokenKind::whitespace || kind == TokenKind::comment || kind == TokenKind::string ||
      kind == TokenKind::quoted_name || kind == TokenKind::duration || kind == TokenKind::error) {
    move_to(end);
  } else {
    column_ += end - offset_;
    offset_ = end;
  }
  return token;
}

Token Lexer::fail(Token token, Problem problem, uint32_t at) {
  problem_ = problem;
  return finish(token, TokenKind::error, std::max(at, token.offset + 1));
}

void Lexer::move_to(uint32_t end) {
  for (; offset_ < end; ++offset_) {
    const auto c = static_cast<unsigned char>(text_[offset_]);
    if (c == '\n') {
      ++line_;
      column_ = 0;
    } else if (c < 0x80 || c >= 0xC0) {
      column_ += c >= 0xF0 ? 2 : 1;  // a character of four bytes is two UTF-16 units
    }
  }
}

LexicalError Lexer::error() const {
  Lexer start(text_);
  // An invalid character is before the lexer's position, because the lexer has read it. Other problems are at
  // the position.
  uint32_t where = offset_;
  if (problem_ == Problem::character) {
    do --where;
    while (where > 0 && types::continues_character(text_[where]));
  } else if (problem_ == Problem::dollar_end && where > 0) {
    --where;
  }
  start.move_to(where);
  const std::string found = "'" + shown_character(text_, where) + "'";
  LexicalError result;
  result.position = {start.line_, start.column_, where};
  switch (problem_) {
    case Problem::string_end:
      result.message = "mismatched character " + found + " expecting '''";
      break;
    case Problem::name_end:
      result.message = "mismatched character " + found + " expecting '\"'";
      break;
    case Problem::dollar:
    case Problem::dollar_end:
      result.message = "mismatched character " + found + " expecting '$'";
      break;
    case Problem::comment_end:
      result.message = "mismatched character " + found + " expecting '*'";
      break;
    case Problem::uuid_dash:
      result.message = "mismatched character " + found + " expecting '-'";
      break;
    case Problem::hexadecimal:
      result.message = "mismatched character " + found + " expecting set null";
      break;
    case Problem::exponent_digits:
      result.message = "required (...)+ loop did not match anything at character " + found;
      break;
    default:
      result.message = "no viable alternative at character " + found;
      break;
  }
  return result;
}

Token Lexer::word(Token token) {
  uint32_t end = offset_ + 1;
  while (end < text_.size() && is(text_[end], word_bit)) ++end;
  const uint32_t length = end - offset_;
  if (length == 8 && at(end) == '-') {
    if (const uint32_t uuid = match_uuid(offset_)) return finish(token, TokenKind::uuid, uuid);
  }
  if (text_[offset_] == 'P' && length > 1 &&
      (is(text_[offset_ + 1], digit_bit) || text_[offset_ + 1] == 'T')) {
    if (length == 5) {
      if (const uint32_t iso = match_iso_alternative(offset_)) return finish(token, TokenKind::duration, iso);
    }
    if (match_iso_duration(offset_) == end) return finish(token, TokenKind::duration, end);
  }
  return finish(token, keyword_kind(text_.substr(offset_, length)), end);
}

uint32_t Lexer::skip_digits(uint32_t from) const {
  while (from < text_.size() && is(text_[from], digit_bit)) ++from;
  return from;
}

Token Lexer::number(Token token) {
  const uint32_t digits = text_[offset_] == '-' ? offset_ + 1 : offset_;
  if (digits == offset_) {
    if (const uint32_t uuid = match_uuid(offset_)) return finish(token, TokenKind::uuid, uuid);
    if (text_[offset_] == '0' && base::ascii_lower(at(offset_ + 1)) == 'x') {
      uint32_t end = offset_ + 2;
      while (end < text_.size() && is(text_[end], hex_bit)) ++end;
      return finish(token, TokenKind::blob, end);
    }
  }
  if (const uint32_t end = match_duration(digits)) return finish(token, TokenKind::duration, end);
  if (digits == offset_ && can_only_be_uuid(offset_)) return broken_uuid(token);

  uint32_t end = skip_digits(digits);
  TokenKind kind = TokenKind::integer;
  if (at(end) == '.' && (at(end + 1) != '.' || at(end + 2) == '.')) {
    kind = TokenKind::floating;
    end = at(end + 1) == '.' ? end + 1 : skip_digits(end + 1);
  }
  if (base::ascii_lower(at(end)) == 'e') {
    const uint32_t power = at(end + 1) == '+' || at(end + 1) == '-' ? end + 2 : end + 1;
    if (!is(at(power), digit_bit)) {
      return fail(token, kind == TokenKind::integer ? Problem::exponent : Problem::exponent_digits, power);
    }
    kind = TokenKind::floating;
    end = skip_digits(power);
  }
  return finish(token, kind, end);
}

Token Lexer::minus(Token token) {
  const char c = at(offset_ + 1);
  if (c == '-') return line_comment(token);
  if (c == '=') return finish(token, TokenKind::minus_equal, offset_ + 2);
  if (is(c, digit_bit)) return number(token);
  if (c == 'P') {
    if (const uint32_t end = match_iso_alternative(offset_ + 1))
      return finish(token, TokenKind::duration, end);
    const uint32_t end = match_iso_duration(offset_ + 1);
    if (end != 0 && !is(at(end), word_bit)) return finish(token, TokenKind::duration, end);
  }
  if (matches_word(text_, offset_ + 1, "nan")) return finish(token, TokenKind::floating, offset_ + 4);
  if (matches_word(text_, offset_ + 1, "infinity")) return finish(token, TokenKind::floating, offset_ + 9);
  return finish(token, TokenKind::minus, offset_ + 1);
}

Token Lexer::quoted(Token token, char quote) {
  size_t from = offset_ + 1;
  while (true) {
    const size_t close = text_.find(quote, from);
    if (close == std::string_view::npos) {
      return fail(token, quote == '"' ? Problem::name_end : Problem::string_end,
                  static_cast<uint32_t>(text_.size()));
    }
    if (at(static_cast<uint32_t>(close + 1)) != quote) {
      const auto end = static_cast<uint32_t>(close + 1);
      if (quote == '\'') return finish(token, TokenKind::string, end);
      return finish(token, end - offset_ == 2 ? TokenKind::empty_quoted_name : TokenKind::quoted_name, end);
    }
    token.escaped = true;
    from = close + 2;
  }
}

Token Lexer::dollar_string(Token token) {
  if (at(offset_ + 1) != '$') return fail(token, Problem::dollar, offset_ + 1);
  token.dollar = true;
  const size_t close = text_.find("$$", offset_ + 2);
  if (close == std::string_view::npos)
    return fail(token, Problem::dollar_end, static_cast<uint32_t>(text_.size()));
  return finish(token, TokenKind::string, static_cast<uint32_t>(close + 2));
}

Token Lexer::line_comment(Token token) {
  const size_t end = text_.find_first_of("\n\r", offset_);
  const size_t stop = end == std::string_view::npos ? text_.size() : end + 1;
  return finish(token, TokenKind::comment, static_cast<uint32_t>(stop));
}

Token Lexer::slash(Token token) {
  const char c = at(offset_ + 1);
  if (c == '/') return line_comment(token);
  if (c != '*') return finish(token, TokenKind::slash, offset_ + 1);
  const size_t close = text_.find("*/", offset_ + 2);
  if (close == std::string_view::npos)
    return fail(token, Problem::comment_end, static_cast<uint32_t>(text_.size()));
  return finish(token, TokenKind::comment, static_cast<uint32_t>(close + 2));
}

Token Lexer::punctuation(Token token) {
  const auto one = [&](TokenKind kind) { return finish(token, kind, offset_ + 1); };
  const auto two = [&](TokenKind kind) { return finish(token, kind, offset_ + 2); };
  const char c = at(offset_ + 1);
  switch (text_[offset_]) {
    case '(':
      return one(TokenKind::left_parenthesis);
    case ')':
      return one(TokenKind::right_parenthesis);
    case '[':
      return one(TokenKind::left_bracket);
    case ']':
      return one(TokenKind::right_bracket);
    case '{':
      return one(TokenKind::left_brace);
    case '}':
      return one(TokenKind::right_brace);
    case ',':
      return one(TokenKind::comma);
    case ';':
      return one(TokenKind::semicolon);
    case ':':
      return one(TokenKind::colon);
    case '?':
      return one(TokenKind::question_mark);
    case '*':
      return one(TokenKind::star);
    case '%':
      return one(TokenKind::percent);
    case '=':
      return one(TokenKind::equal);
    case '.':
      return c == '.' ? two(TokenKind::range) : one(TokenKind::dot);
    case '<':
      return c == '=' ? two(TokenKind::less_or_equal) : one(TokenKind::less);
    case '>':
      return c == '=' ? two(TokenKind::greater_or_equal) : one(TokenKind::greater);
    case '+':
      return c == '=' ? two(TokenKind::plus_equal) : one(TokenKind::plus);
    case '!':
      if (c == '=') return two(TokenKind::not_equal);
      break;
    default:
      break;
  }
  return fail(token, Problem::character, static_cast<uint32_t>(types::next_character(text_, offset_ + 1)));
}

// True if digits are followed by hexadecimal letters, as in a UUID, and the whole is not a number with an
// exponent.
bool Lexer::can_only_be_uuid(uint32_t from) const {
  const uint32_t letter = skip_digits(from);
  uint32_t end = letter;
  while (end < from + 8 && is(at(end), hex_bit)) ++end;
  if (letter >= end) return false;
  if (end == from + 8 && at(end) == '-') return true;
  if (base::ascii_lower(text_[letter]) != 'e') return true;
  const uint32_t power = skip_digits(letter + 1);
  return power != letter + 1 && power < end;
}

Token Lexer::broken_uuid(Token token) {
  uint32_t at_fault = 0;
  while (fits_uuid(offset_, at_fault)) ++at_fault;
  return fail(token, is_uuid_dash(at_fault) ? Problem::uuid_dash : Problem::hexadecimal, offset_ + at_fault);
}

bool Lexer::fits_uuid(uint32_t from, uint32_t index) const {
  const char c = at(from + index);
  return is_uuid_dash(index) ? c == '-' : is(c, hex_bit);
}

// Each match_ function returns the end of its match, or 0.

uint32_t Lexer::match_uuid(uint32_t from) const {
  constexpr uint32_t length = 36;
  if (text_.size() - from < length) return 0;
  for (uint32_t i = 0; i < length; ++i)
    if (!fits_uuid(from, i)) return 0;
  return from + length;
}

// 1y2mo3w4d5h6m7s8ms9us10ns: at least one pair of digits and unit.
uint32_t Lexer::match_duration(uint32_t from) const {
  uint32_t end = 0;
  while (true) {
    const uint32_t unit = skip_digits(from);
    if (unit == from) return end;
    const char first = base::ascii_lower(at(unit));
    const char second = base::ascii_lower(at(unit + 1));
    uint32_t length = 0;
    if (first == 'm') {
      length = second == 'o' || second == 's' ? 2 : 1;
    } else if (first == 'y' || first == 'w' || first == 'd' || first == 'h' || first == 's') {
      length = 1;
    } else if ((first == 'u' || first == 'n') && second == 's') {
      length = 2;
    } else if (first == '\xC2' && at(unit + 1) == '\xB5' && base::ascii_lower(at(unit + 2)) == 's') {
      length = 3;
    }
    if (length == 0) return end;
    from = end = unit + length;
  }
}

// P3W, P1Y2M3D, PT4H5M6S, P1DT2H. Units in order, each at most once, at least one.
uint32_t Lexer::match_iso_duration(uint32_t from) const {
  if (at(from) != 'P') return 0;
  const auto units = [this](uint32_t& offset, std::string_view order) {
    bool any = false;
    for (const char unit : order) {
      const uint32_t digits = skip_digits(offset);
      if (digits == offset || at(digits) != unit) continue;
      offset = digits + 1;
      any = true;
    }
    return any;
  };
  uint32_t end = from + 1;
  const uint32_t week = skip_digits(end);
  if (week != end && at(week) == 'W') return week + 1;
  const bool date = units(end, "YMD");
  if (at(end) == 'T') {
    uint32_t time = end + 1;
    if (units(time, "HMS")) return time;
  }
  return date ? end : 0;
}

// P0001-02-03T04:05:06
uint32_t Lexer::match_iso_alternative(uint32_t from) const {
  constexpr std::string_view shape = "P0000-00-00T00:00:00";
  if (text_.size() - from < shape.size()) return 0;
  for (uint32_t i = 0; i < shape.size(); ++i) {
    const char c = text_[from + i];
    if (shape[i] == '0' ? !is(c, digit_bit) : c != shape[i]) return 0;
  }
  return from + static_cast<uint32_t>(shape.size());
}

std::string token_text(std::string_view text, const Token& token) {
  const std::string_view raw = text.substr(token.offset, token.length);
  if (token.kind == TokenKind::string && token.dollar) return std::string(raw.substr(2, raw.size() - 4));
  if (token.kind != TokenKind::string && token.kind != TokenKind::quoted_name) return std::string(raw);
  const std::string_view content = raw.substr(1, raw.size() - 2);
  if (!token.escaped) return std::string(content);
  const char quote = raw.front();
  std::string result;
  result.reserve(content.size());
  for (size_t i = 0; i < content.size(); ++i) {
    result += content[i];
    if (content[i] == quote) ++i;
  }
  return result;
}

}  // namespace sibyl::cql
