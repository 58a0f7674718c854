// Removes commands that cqlsh understands but that are not CQL.
#include <algorithm>
#include <array>

#include "advisor/workload/reader.h"
#include "base/ascii.h"
#include "cql/lexer.h"

namespace sibyl::advisor {
namespace {

bool is_one_of(const std::string& word, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

}  // namespace

std::string without_shell_commands(std::string_view text) {
  std::string out(text);
  bool begins = true;  // true at the start of a statement
  size_t from = 0;
  while (from < text.size()) {
    cql::Lexer lexer(text.substr(from));
    size_t resume = text.size();
    for (cql::Token token = lexer.next(); token.kind != cql::TokenKind::end; token = lexer.next()) {
      const size_t at = from + token.offset;
      const std::string word = base::ascii_upper(text.substr(at, token.length));
      // COPY ends with a semicolon, like a statement. Other commands end with their line.
      const bool copies = begins && word == "COPY";
      const bool commands =
          begins && is_one_of(word, {"SOURCE", "CONSISTENCY", "SERIAL", "PAGING", "EXPAND", "TRACING",
                                     "CAPTURE", "DESCRIBE", "DESC", "HELP", "EXIT", "QUIT", "LOGIN", "SHOW",
                                     "CLEAR", "CLS", "UNICODE", "DEBUG", "HISTORY"});
      begins = word == ";";
      if (!copies && !commands) continue;
      resume = std::min(text.find(copies ? ';' : '\n', at), text.size());
      std::replace_if(
          out.begin() + static_cast<ptrdiff_t>(at), out.begin() + static_cast<ptrdiff_t>(resume),
          [](char c) { return c != '\n'; }, ' ');
      begins = true;
      break;
    }
    from = resume;
  }
  return out;
}

}  // namespace sibyl::advisor
