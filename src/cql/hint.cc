// Our own hints after Cassandra's error texts.
#include <algorithm>
#include <array>
#include <vector>

#include "cql/parser.h"
#include "cql/printer.h"
#include "cql/statement_parser.h"

namespace sibyl::cql {
namespace {

constexpr std::array statement_words = {"SELECT", "INSERT", "UPDATE",   "DELETE", "BEGIN",  "CREATE",
                                        "ALTER",  "DROP",   "USE",      "GRANT",  "REVOKE", "TRUNCATE",
                                        "LIST",   "ADD",    "DESCRIBE", "EXPLAIN"};

std::string upper(std::string text) {
  for (char& c : text) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 32);
  }
  return text;
}

// Edit distance: how many letters must be added, removed, changed or swapped with their neighbour.
size_t distance(const std::string& a, const std::string& b) {
  std::vector<std::vector<size_t>> cost(a.size() + 1, std::vector<size_t>(b.size() + 1));
  for (size_t i = 0; i <= a.size(); ++i) {
    for (size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        cost[i][j] = i + j;
        continue;
      }
      const size_t change = a[i - 1] == b[j - 1] ? 0 : 1;
      cost[i][j] = std::min({cost[i - 1][j] + 1, cost[i][j - 1] + 1, cost[i - 1][j - 1] + change});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        cost[i][j] = std::min(cost[i][j], cost[i - 2][j - 2] + 1);
      }
    }
  }
  return cost[a.size()][b.size()];
}

}  // namespace

// True if a reserved word was probably meant as a name: the next token fits a name, not the keyword.
bool Parser::looks_like_name(const Token& word) const {
  if (word.kind < TokenKind::kw_access || is_name(word.kind)) return false;
  if (expects_column_) return true;
  Lexer lexer(lexer_.text().substr(word.offset + word.length));
  switch (lexer.next().kind) {
    case TokenKind::comma:
    case TokenKind::right_parenthesis:
    case TokenKind::equal:
    case TokenKind::dot:
    case TokenKind::kw_from:
    case TokenKind::kw_as:
      return true;
    default:
      return false;
  }
}

std::string Parser::hint_for(const Token& at, const Token& shown) const {
  if (expects_value_ && shown.length <= 100) {
    const std::string text = print_string(text_of(shown));
    if (shown.kind == TokenKind::quoted_name) {
      return "strings take single quotes: " + text + "; double quotes are for names";
    }
    return "a column cannot be used as a value here; strings take single quotes: " + text;
  }
  if (at.kind == TokenKind::end) return "";
  const std::string word = upper(std::string(lexer_.raw(at)));
  const std::string_view before = lexer_.text().substr(0, at.offset);
  if (at.kind == TokenKind::identifier && before.find_first_not_of(" \t\r\n") == std::string_view::npos) {
    for (const char* candidate : statement_words) {
      if (word.size() <= 16 && distance(word, candidate) <= 2)
        return std::string("did you mean ") + candidate + "?";
    }
    return "";
  }
  if (at.kind == TokenKind::identifier && before.ends_with('\'')) {
    return "a quote inside a string is written twice: 'it''s'";
  }
  if (at.kind == TokenKind::kw_or_)
    return "CQL has no OR: use IN for several values of a column, or several statements";
  if (at.kind == TokenKind::identifier && word == "JOIN") {
    return "CQL has no joins: store what is read together in one table";
  }
  if (at.kind == TokenKind::identifier && word == "OFFSET") {
    return "CQL has no OFFSET: continue with the paging state, or after the last key read";
  }
  if (looks_like_name(at)) {
    const std::string name = folded(at);
    return name + " is a reserved word; as a name, write \"" + name + "\"";
  }
  return "";
}

std::string Parser::hint_for(const LexicalError& error) const {
  if (error.message.ends_with("expecting '''")) return "a quote inside a string is written twice: 'it''s'";
  if (error.message.find("'`'") != std::string::npos)
    return "names take double quotes, strings single quotes";
  return "";
}

}  // namespace sibyl::cql
