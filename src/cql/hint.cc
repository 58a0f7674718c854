// Our own hints after Cassandra's error texts.
#include <algorithm>
#include <array>
#include <vector>

#include "base/similar.h"
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

// Words before a mistake, in upper case: the last word, the word before the name at the end of the text, and
// the first word.
struct LastWords {
  std::string last, before_name, first;
  std::string written;  // the last one, as it is written
};

LastWords last_words(std::string_view text) {
  std::vector<std::string> words;
  Lexer lexer(text);
  for (Token token = lexer.next(); token.kind != TokenKind::end; token = lexer.next())
    words.emplace_back(lexer.raw(token));
  if (words.empty()) return {};
  LastWords out{upper(words.back()), {}, upper(words.front()), words.back()};
  size_t name = words.size() - 1;
  while (name >= 2 && words[name - 1] == ".") name -= 2;
  if (name > 0) out.before_name = upper(words[name - 1]);
  return out;
}

template <size_t count>
bool is_one_of(const std::string& word, const std::array<const char*, count>& words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

constexpr const char* no_joins = "CQL has no joins: store data that is read together in one table";

// The word after the name of a table in a SELECT: a misspelt keyword, an alias, or a kind of JOIN.
std::string hint_after_table(const std::string& word) {
  constexpr std::array clauses = {"WHERE", "PER", "GROUP", "ORDER", "LIMIT", "ALLOW"};
  for (const char* clause : clauses)
    if (word.size() > 3 && word.size() <= 8 && base::edit_distance(word, clause) <= 2)
      return std::string("did you mean ") + clause + "?";
  constexpr std::array joins = {"INNER", "LEFT", "RIGHT", "FULL", "CROSS", "NATURAL", "JOIN"};
  return is_one_of(word, joins) ? no_joins
                                : "CQL has no aliases of tables and no joins: write each column by its name";
}

// Mistakes of people who know SQL.
std::string hint_for_other_sql(const Token& at, const std::string& word, const LastWords& words) {
  constexpr std::array sized = {"VARCHAR", "CHAR", "TEXT",   "ASCII", "DECIMAL",
                                "NUMERIC", "INT",  "VARINT", "BLOB"};
  constexpr std::array collections = {"list", "set", "map", "tuple", "frozen", "vector"};
  if (at.kind == TokenKind::left_parenthesis && words.first == "CREATE" && is_one_of(words.last, sized))
    return "types have no length or precision in CQL: write " + (words.last == "CHAR"      ? "text"
                                                                 : words.last == "NUMERIC" ? "decimal"
                                                                                           : words.written);
  if (at.kind == TokenKind::less) {
    for (const char* name : collections)
      if (words.written != name && base::edit_distance(words.written, name) == 1)
        return std::string("did you mean ") + name + "<…>?";
  }
  if (at.kind == TokenKind::comma && words.first == "SELECT" && words.before_name == "FROM") return no_joins;
  if (words.first == "SELECT" && words.before_name == "FROM" &&
      (at.kind == TokenKind::identifier || at.kind == TokenKind::kw_as))
    return hint_after_table(word);
  if (at.kind == TokenKind::star && words.last == "(" && words.before_name != "COUNT")
    return base::edit_distance(words.before_name, "COUNT") <= 2 ? "did you mean count(*)?"
                                                                : "only count takes *: count(*)";
  if (word == "NULL" && words.last == "IS")
    return "CQL cannot search for null: store a value that stands for it";
  if (word == "VALUES" && words.first == "INSERT")
    return "name the columns: INSERT INTO table (column, …) VALUES (…)";
  if (word == "DATABASE" && words.last == "CREATE")
    return "CQL says keyspace: CREATE KEYSPACE name WITH replication = {'class': 'SimpleStrategy', "
           "'replication_factor': 1}";
  if (word == "NOT" && words.first == "CREATE")
    return "columns outside the primary key may always be null: omit NOT NULL";
  return "";
}

}  // namespace

// True if a reserved word was probably meant as a name: the next token fits a name, not the keyword.
bool Parser::looks_like_name(const Token& word) const {
  if (word.kind < TokenKind::kw_access || is_name(word.kind)) return false;
  if (expects_column_) return true;
  constexpr std::array before_table = {"FROM", "INTO", "UPDATE", "TABLE", "EXISTS", "ON", "TYPE", "USE"};
  const LastWords words = last_words(lexer_.text().substr(0, word.offset));
  Lexer lexer(lexer_.text().substr(word.offset + word.length));
  const TokenKind next = lexer.next().kind;
  switch (next) {
    case TokenKind::end:
    case TokenKind::semicolon:
    case TokenKind::left_parenthesis:
    case TokenKind::kw_where:
    case TokenKind::kw_set:
      return is_one_of(words.last, before_table);
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
  if (at.kind == TokenKind::end || at.kind == TokenKind::semicolon) {
    const LastWords words = last_words(lexer_.text().substr(0, at.offset));
    return words.first == "DELETE" && words.before_name == "FROM" ? "TRUNCATE deletes all rows of a table"
                                                                  : "";
  }
  const std::string word = upper(std::string(lexer_.raw(at)));
  const std::string_view before = lexer_.text().substr(0, at.offset);
  if (at.kind == TokenKind::identifier && before.find_first_not_of(" \t\r\n") == std::string_view::npos) {
    if (word == "SHOW") return "DESCRIBE TABLES lists tables, DESCRIBE KEYSPACES keyspaces";
    for (const char* candidate : statement_words) {
      if (word.size() <= 16 && base::edit_distance(word, candidate) <= 2)
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
    return no_joins;
  }
  if (at.kind == TokenKind::identifier && word == "OFFSET") {
    return "CQL has no OFFSET: continue with the paging state, or after the last key read";
  }
  if (std::string hint = hint_for_other_sql(at, word, last_words(before)); !hint.empty()) return hint;
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
