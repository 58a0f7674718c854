// Tokens of a directive. Internal to the parser of workload files.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace sibyl::advisor {

struct Token {
  enum class Kind { word, text, marker, sign, end };
  Kind kind = Kind::end;
  std::string text;  // text literals and quoted names keep their quotes
  uint32_t line = 1, column = 1;
};

// One line of a directive: a comment line without its dashes.
struct CommentLine {
  std::string_view text;
  uint32_t line = 1, column = 1;
};

std::vector<Token> tokenize(const std::vector<CommentLine>& lines);

// Splits a name at its dots and removes quotes.
std::vector<std::string> name_parts(std::string_view text);

// Reads tokens. Every error gives the file, the position, what was expected and what was found.
class TokenReader {
 public:
  TokenReader(std::string_view file, std::vector<Token> tokens) : file_(file), tokens_(std::move(tokens)) {}

  const Token& peek(size_t ahead = 0) const { return tokens_[std::min(at_ + ahead, tokens_.size() - 1)]; }
  const Token& next();
  bool at_end() const { return peek().kind == Token::Kind::end; }
  bool is_sign(std::string_view sign, size_t ahead = 0) const;
  // Compares without regard to case.
  bool is_word(std::string_view word, size_t ahead = 0) const;
  bool take_sign(std::string_view sign);
  bool take_word(std::string_view word);

  base::Result<Token> expect_word(std::string_view what);
  base::Status expect_sign(std::string_view sign);
  base::Status expect_keyword(std::string_view word);
  base::Status expect_end();

  std::unexpected<base::Error> fail(const Token& at, std::string message) const;
  std::unexpected<base::Error> expected(std::string_view what) const;
  std::unexpected<base::Error> unknown(const Token& at, std::string_view kind, std::string_view word,
                                       const std::vector<std::string>& candidates) const;

 private:
  std::string_view file_;
  std::vector<Token> tokens_;
  size_t at_ = 0;
};

}  // namespace sibyl::advisor
