#include "cli/shell/copy_statement.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/ascii.h"
#include "cli/shell/scan.h"
#include "types/identifier.h"
#include "types/print.h"

namespace sibyl::cli::shell {
namespace {

constexpr const char* copy_syntax =
    "COPY [keyspace.]table [(column, ...)] FROM | TO 'file' | STDIN | STDOUT [WITH HEADER = true AND ...]";

struct CopyOption {
  std::string_view name;
  const char* flag;  // the flag of `sibyl import` and `sibyl export`; nullptr: the option has no effect
  bool imports = true, exports = true;
};
constexpr std::array copy_options = {
    CopyOption{"BEGINTOKEN", nullptr},
    CopyOption{"CHUNKSIZE", nullptr},
    CopyOption{"DELIMITER", "--delimiter"},
    CopyOption{"ENCODING", nullptr},
    CopyOption{"ESCAPE", "--escape"},
    CopyOption{"HEADER", "--header"},
    CopyOption{"INGESTRATE", nullptr},
    CopyOption{"MAXATTEMPTS", nullptr},
    CopyOption{"MAXBATCHSIZE", nullptr},
    CopyOption{"MAXINFLIGHTMESSAGES", nullptr},
    CopyOption{"MAXINSERTERRORS", "--max-errors", true, false},
    CopyOption{"MAXPARSEERRORS", nullptr},
    CopyOption{"MAXREQUESTS", nullptr},
    CopyOption{"MINBATCHSIZE", nullptr},
    CopyOption{"NULL", "--null"},
    CopyOption{"NUMPROCESSES", "--jobs"},
    CopyOption{"PAGESIZE", nullptr},
    CopyOption{"PAGETIMEOUT", nullptr},
    CopyOption{"QUOTE", "--quote"},
    CopyOption{"REPORTFREQUENCY", nullptr},
    CopyOption{"TTL", "--ttl", true, false},
};

std::unexpected<base::Error> improper(const std::string& why, const char* hint = copy_syntax) {
  return base::fail(base::Error(base::ErrorCode::syntax, why).with_hint(hint));
}

class CopyParser {
 public:
  CopyParser(std::vector<Token> tokens, const std::string& keyspace)
      : tokens_(std::move(tokens)), keyspace_(keyspace) {}

  base::Result<CopyStatement> run() {
    ++at_;  // COPY
    SIBYL_ASSIGN(const std::string table, table_name());
    SIBYL_ASSIGN(const std::string columns, column_names());
    SIBYL_ASSIGN(const std::string file, direction_and_file());
    CopyStatement out;
    out.arguments = {is_import_ ? "import" : "export", table, file, "--format", "csv"};
    if (is_import_) out.arguments.emplace_back("--write-nulls");  // as cqlsh does
    if (!columns.empty()) out.arguments.insert(out.arguments.end(), {"--columns", columns});
    SIBYL_TRY(options(out));
    return out;
  }

 private:
  const Token& token() const {
    static const Token none{};
    return at_ < tokens_.size() ? tokens_[at_] : none;
  }
  bool take(char symbol) {
    if (at_ == tokens_.size() || !token().is(symbol)) return false;
    ++at_;
    return true;
  }
  bool take(std::string_view word) {
    if (!token().is(word)) return false;
    ++at_;
    return true;
  }

  base::Result<std::string> table_name() {
    if (!token().is_name()) return improper("COPY needs the name of a table.");
    std::string keyspace = keyspace_, table = tokens_[at_++].name();
    if (take('.')) {
      if (!token().is_name()) return improper("COPY needs the name of a table.");
      keyspace = std::exchange(table, tokens_[at_++].name());
    }
    if (keyspace.empty()) return improper("No keyspace is in use.", "USE keyspace, or COPY keyspace.table");
    return types::quote_identifier(keyspace) + "." + types::quote_identifier(table);
  }

  // Returns the columns, separated by commas; empty: all columns.
  base::Result<std::string> column_names() {
    std::string names;
    if (!take('(')) return names;
    do {
      if (!token().is_name()) return improper("COPY needs names of columns in the parentheses.");
      names += (names.empty() ? "" : ",") + types::quote_identifier(tokens_[at_++].name());
    } while (take(','));
    if (!take(')')) return improper("COPY lacks a closing parenthesis.");
    return names;
  }

  base::Result<std::string> direction_and_file() {
    is_import_ = take("FROM");
    if (!is_import_ && !take("TO")) return improper("COPY needs FROM or TO.");
    if (take(is_import_ ? "STDIN" : "STDOUT")) return std::string("-");
    if (token().kind != Token::Kind::string) return improper("COPY needs the name of a file in quotes.");
    return take_text();
  }

  base::Status options(CopyStatement& out) {
    if (at_ == tokens_.size() || take(';')) return {};
    if (!take("WITH")) return improper(fmt::format("'{}' cannot follow the file.", token().text));
    do {
      SIBYL_TRY(option(out));
    } while (take("AND"));
    if (at_ < tokens_.size() && !take(';'))
      return improper(fmt::format("'{}' cannot follow an option.", token().text));
    return {};
  }

  base::Status option(CopyStatement& out) {
    const std::string name = base::ascii_upper(token().text);
    const auto* known = std::find_if(copy_options.begin(), copy_options.end(),
                                     [&](const CopyOption& one) { return one.name == name; });
    if (known == copy_options.end() || !(is_import_ ? known->imports : known->exports))
      return improper(fmt::format("COPY {} has no option '{}'.", is_import_ ? "FROM" : "TO", token().text),
                      "`sibyl import --help` and `sibyl export --help` list what can be set");
    ++at_;
    if (!take('=') || at_ == tokens_.size()) return improper(fmt::format("{} needs a value.", name));
    const std::string value = take_text();
    if (known->flag == nullptr) {
      out.ignored.push_back(name);
    } else if (name != "HEADER") {
      out.arguments.insert(out.arguments.end(), {known->flag, value});
    } else if (base::ascii_upper(value) == "TRUE") {
      out.arguments.push_back(known->flag);
    }
    return {};
  }

  // A token as written, or a string without its quotes. A doubled quote in a string separates two tokens.
  std::string take_text() {
    std::string text = token().text;
    while (tokens_[at_].kind == Token::Kind::string && at_ + 1 < tokens_.size() &&
           tokens_[at_ + 1].kind == Token::Kind::string && tokens_[at_ + 1].start == tokens_[at_].end)
      text += "'" + tokens_[++at_].text;
    ++at_;
    return text;
  }

  const std::vector<Token> tokens_;
  const std::string& keyspace_;
  size_t at_ = 0;
  bool is_import_ = false;
};

}  // namespace

base::Result<CopyStatement> parse_copy(std::string_view text, const std::string& keyspace) {
  Scan scanned = scan(text);
  if (scanned.open != std::string_view::npos) return improper("A quote is not closed.");
  return CopyParser(std::move(scanned.tokens), keyspace).run();
}

}  // namespace sibyl::cli::shell
