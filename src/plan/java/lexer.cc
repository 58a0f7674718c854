#include "plan/java/lexer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "plan/java/text.h"

namespace sibyl::plan::java {
namespace {

constexpr size_t max_tokens = 10'000;

constexpr std::array<std::string_view, 53> keywords = {
    "abstract", "assert",       "boolean",  "break",     "byte",   "case",      "catch",    "char",
    "class",    "const",        "continue", "default",   "do",     "double",    "else",     "enum",
    "extends",  "final",        "finally",  "float",     "for",    "goto",      "if",       "implements",
    "import",   "instanceof",   "int",      "interface", "long",   "native",    "new",      "package",
    "private",  "protected",    "public",   "return",    "short",  "static",    "strictfp", "super",
    "switch",   "synchronized", "this",     "throw",     "throws", "transient", "try",      "void",
    "volatile", "while",        "true",     "false",     "null"};

// Longer ones first.
constexpr std::array<std::string_view, 47> symbols = {
    ">>>=", ">>>", "<<=", ">>=", "...", "->", "::", "++", "--", "&&", "||", "==", "!=", "<=", ">=", "+=",
    "-=",   "*=",  "/=",  "&=",  "|=",  "^=", "%=", "<<", ">>", "(",  ")",  "{",  "}",  "[",  "]",  ";",
    ",",    ".",   "@",   "=",   ">",   "<",  "!",  "~",  "?",  ":",  "+",  "-",  "*",  "/",  "%"};
constexpr std::string_view single_symbols = "&|^";

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$';
}

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  base::Result<std::vector<Token>> run() {
    for (;;) {
      SIBYL_TRY(skip_blanks());
      if (at_ == text_.size()) break;
      if (tokens_.size() >= max_tokens) return refused(line_, "a body of this length is not supported");
      SIBYL_TRY(read_token());
    }
    tokens_.push_back({Token::Kind::end, "", {}, line_});
    return std::move(tokens_);
  }

 private:
  char peek(size_t distance = 0) const {
    return at_ + distance < text_.size() ? text_[at_ + distance] : '\0';
  }
  bool follows(std::string_view what) const { return text_.substr(at_).starts_with(what); }

  base::Status skip_blanks() {
    while (at_ < text_.size()) {
      if (peek() == '\n') ++line_;
      if (peek() == ' ' || peek() == '\t' || peek() == '\n' || peek() == '\r' || peek() == '\f') {
        ++at_;
      } else if (follows("//")) {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else if (follows("/*")) {
        const size_t end = text_.find("*/", at_ + 2);
        if (end == text_.npos) return refused(line_, "Unexpected end of comment");
        line_ += static_cast<int>(
            std::count(text_.begin() + static_cast<long>(at_), text_.begin() + static_cast<long>(end), '\n'));
        at_ = end + 2;
      } else {
        break;
      }
    }
    return {};
  }

  void add(Token::Kind kind, size_t length) {
    tokens_.push_back({kind, std::string(text_.substr(at_, length)), {}, line_});
    at_ += length;
  }

  base::Status read_token() {
    if (follows("\\u")) return refused(line_, "'\\u' outside of texts is not supported");
    if (is_letter(peek())) {
      size_t length = 1;
      while (is_letter(peek(length)) || is_digit(peek(length))) ++length;
      const std::string_view word = text_.substr(at_, length);
      add(std::find(keywords.begin(), keywords.end(), word) != keywords.end() ? Token::Kind::keyword
                                                                              : Token::Kind::name,
          length);
      return {};
    }
    if (is_digit(peek()) || (peek() == '.' && is_digit(peek(1)))) return read_number();
    if (peek() == '"' || peek() == '\'') return read_text(peek());
    for (const std::string_view symbol : symbols)
      if (follows(symbol)) return add(Token::Kind::symbol, symbol.size()), base::Status();
    if (single_symbols.find(peek()) != single_symbols.npos)
      return add(Token::Kind::symbol, 1), base::Status();
    return refused(line_, fmt::format("'{}' is not supported", peek()));
  }

  // Decimal and hexadecimal integers, and decimal floating point numbers. Octal and binary ones are refused.
  base::Status read_number() {
    size_t length = 0;
    bool is_floating = false;
    if (peek() == '0' && (peek(1) == 'x' || peek(1) == 'X')) {
      length = 2;
      while (std::isxdigit(static_cast<unsigned char>(peek(length))) != 0) ++length;
    } else {
      const auto skip_digits = [&] {
        while (is_digit(peek(length))) ++length;
      };
      skip_digits();
      if (length > 1 && peek() == '0' && peek(length) != '.')
        return refused(line_, "an octal number is not supported");
      if (peek(length) == '.') {
        is_floating = true;
        ++length;
        skip_digits();
      }
      if (peek(length) == 'e' || peek(length) == 'E') {
        is_floating = true;
        ++length;
        if (peek(length) == '+' || peek(length) == '-') ++length;
        skip_digits();
      }
      if (std::string_view("fFdD").find(peek(length)) != std::string_view::npos && peek(length) != '\0') {
        is_floating = true;
        ++length;
      }
    }
    if (!is_floating && (peek(length) == 'l' || peek(length) == 'L')) ++length;
    if (is_letter(peek(length)) || is_digit(peek(length)))
      return refused(line_, fmt::format("the number '{}' is not supported", text_.substr(at_, length + 1)));
    add(is_floating ? Token::Kind::floating : Token::Kind::integer, length);
    return {};
  }

  base::Status read_text(char quote) {
    const size_t begin = at_++;
    std::string bytes;
    while (peek() != quote) {
      if (at_ == text_.size() || peek() == '\n')
        return refused(line_, "String literal is not properly closed by a double-quote");
      if (peek() == '\\') {
        SIBYL_TRY(read_escape(bytes));
      } else {
        bytes += text_[at_++];
      }
    }
    ++at_;
    Token token{quote == '"' ? Token::Kind::string : Token::Kind::character,
                std::string(text_.substr(begin, at_ - begin)), to_utf16(bytes), line_};
    if (quote == '\'' && token.value.size() != 1) return refused(line_, "Invalid character constant");
    tokens_.push_back(std::move(token));
    return {};
  }

  base::Status read_escape(std::string& bytes) {
    static constexpr std::string_view names = "btnfr\"'\\";
    static constexpr std::string_view values = "\b\t\n\f\r\"'\\";
    const size_t found = names.find(peek(1));
    if (peek(1) == '\0' || found == names.npos)
      return refused(line_, fmt::format("the escape sequence '\\{}' is not supported", peek(1)));
    bytes += values[found];
    at_ += 2;
    return {};
  }

  std::string_view text_;
  size_t at_ = 0;
  int line_ = 1;
  std::vector<Token> tokens_;
};

}  // namespace

base::Result<std::vector<Token>> tokenize(std::string_view text) {
  return Lexer(text).run();
}

std::unexpected<base::Error> refused(int line, const std::string& what) {
  return base::fail(base::ErrorCode::invalid, fmt::format("Line {}: {}", line, what));
}

}  // namespace sibyl::plan::java
