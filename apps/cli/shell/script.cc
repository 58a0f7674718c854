#include "cli/shell/script.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "base/ascii.h"
#include "cli/command_line/text.h"
#include "cli/shell/scan.h"
#include "cql/script.h"

namespace sibyl::cli::shell {
namespace {

struct Spelling {
  std::string_view word, name;
  Command::Kind kind;
};
using enum Command::Kind;
constexpr std::array spellings = {
    Spelling{"?", "HELP", help},
    Spelling{"CAPTURE", "CAPTURE", capture},
    Spelling{"CLEAR", "CLEAR", clear},
    Spelling{"CLS", "CLEAR", clear},
    Spelling{"CONSISTENCY", "CONSISTENCY", consistency},
    Spelling{"COPY", "COPY", copy},
    Spelling{"DESC", "DESCRIBE", describe},
    Spelling{"DESCRIBE", "DESCRIBE", describe},
    Spelling{"EXIT", "EXIT", exit},
    Spelling{"EXPAND", "EXPAND", expand},
    Spelling{"HELP", "HELP", help},
    Spelling{"LOGIN", "LOGIN", login},
    Spelling{"PAGING", "PAGING", paging},
    Spelling{"QUIT", "EXIT", exit},
    Spelling{"SERIAL", "SERIAL", serial},
    Spelling{"SHOW", "SHOW", show},
    Spelling{"SOURCE", "SOURCE", source},
    Spelling{"TRACING", "TRACING", tracing},
};

bool is_space(char c) {
  return std::isspace(static_cast<unsigned char>(c)) != 0;
}

std::string_view first_word(std::string_view text) {
  if (text.starts_with('?')) return text.substr(0, 1);
  size_t end = 0;
  while (end < text.size() && is_word(text[end])) ++end;
  return text.substr(0, end);
}

const Spelling* find_spelling(std::string_view text) {
  const std::string word = base::ascii_upper(first_word(text));
  const auto* found =
      std::find_if(spellings.begin(), spellings.end(), [&](const Spelling& s) { return s.word == word; });
  return found == spellings.end() ? nullptr : found;
}

// Returns the end of a command's line: a newline or a `;` outside of quotes.
size_t command_end(std::string_view text) {
  char quote = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\n') return i;
    if (quote != 0) {
      if (text[i] == quote) quote = 0;
    } else if (text[i] == '\'' || text[i] == '"') {
      quote = text[i];
    } else if (text[i] == ';') {
      return i;
    }
  }
  return text.size();
}

// Reads a word, or a string in single quotes (a doubled quote is one quote).
std::string next_argument(std::string_view text, size_t& offset) {
  std::string argument;
  if (text[offset] != '\'') {
    while (offset < text.size() && !is_space(text[offset])) argument += text[offset++];
    return argument;
  }
  for (++offset; offset < text.size(); ++offset) {
    if (text[offset] == '\'') {
      if (offset + 1 >= text.size() || text[offset + 1] != '\'') break;
      ++offset;
    }
    argument += text[offset];
  }
  if (offset < text.size()) ++offset;
  return argument;
}

// Returns the command at the start of `rest`, which begins at `offset` of the script.
Statement take_command(std::string_view rest, size_t offset) {
  const size_t end = command_end(rest);
  std::string_view line = rest.substr(0, end);
  while (!line.empty() && is_space(line.back())) line.remove_suffix(1);
  return {std::string(line), offset, offset + std::min(end + 1, rest.size()), true};
}

// Removes and returns a name at the start of the text; empty if there is none.
std::string take_name(std::string_view& text) {
  std::string name;
  size_t end = 0;
  if (text.starts_with('"')) {
    for (end = 1; end < text.size(); ++end) {
      if (text[end] == '"') {
        if (end + 1 >= text.size() || text[end + 1] != '"') break;
        ++end;
      }
      name += text[end];
    }
    if (end == text.size()) return {};
    ++end;
  } else {
    while (end < text.size() && is_word(text[end])) ++end;
    name = base::ascii_lower(text.substr(0, end));
  }
  text.remove_prefix(end);
  return name;
}

// Adds the statements from `offset` up to and including the next command. Returns where to continue.
size_t split_until_command(std::string_view script, size_t offset, std::vector<Statement>& statements) {
  for (cql::ScriptPiece& piece : cql::split_script(script.substr(offset))) {
    const size_t start = offset + piece.offset;
    const size_t end = start + piece.text.size() + (piece.complete ? 1 : 0);
    if (find_spelling(piece.text) != nullptr) {
      statements.push_back(take_command(script.substr(start), start));
      return statements.back().end;
    }
    statements.push_back({std::move(piece.text), start, end, piece.complete});
  }
  return script.size();
}

}  // namespace

size_t skip_blank(std::string_view text, size_t offset) {
  while (offset < text.size()) {
    const std::string_view rest = text.substr(offset);
    if (is_space(rest[0])) {
      ++offset;
    } else if (rest.starts_with("--") || rest.starts_with("//")) {
      offset = std::min(text.find('\n', offset), text.size());
    } else if (rest.starts_with("/*")) {
      const size_t end = text.find("*/", offset + 2);
      if (end == std::string_view::npos) return end;
      offset = end + 2;
    } else {
      break;
    }
  }
  return offset;
}

std::optional<Command> parse_command(std::string_view text) {
  const Spelling* spelling = find_spelling(text);
  if (spelling == nullptr) return std::nullopt;
  Command command{spelling->kind, std::string(spelling->name), {}};
  text = text.substr(0, command_end(text));
  for (size_t offset = first_word(text).size(); offset < text.size();) {
    if (is_space(text[offset])) {
      ++offset;
    } else {
      command.arguments.push_back(next_argument(text, offset));
    }
  }
  return command;
}

const std::vector<std::string_view>& command_names() {
  static const std::vector<std::string_view> names = {
      "CAPTURE", "CLEAR",  "CONSISTENCY", "DESCRIBE",           "EXIT", "EXPAND", "HELP",
      "LOGIN",   "PAGING", "QUIT",        "SERIAL CONSISTENCY", "SHOW", "SOURCE", "TRACING"};
  return names;
}

bool contains_password(std::string_view script) {
  for (const Statement& statement : split_statements(script)) {
    const std::optional<Command> command = parse_command(statement.text);
    if (command && command->kind == Command::Kind::login && command->arguments.size() > 1) return true;
  }
  return false;
}

std::vector<Statement> split_statements(std::string_view script) {
  std::vector<Statement> statements;
  for (size_t offset = 0; offset < script.size();) offset = split_until_command(script, offset, statements);
  return statements;
}

std::optional<TableName> parse_table_name(std::string_view text) {
  TableName name;
  name.keyspace = take_name(text);
  if (name.keyspace.empty() || !text.starts_with('.')) return std::nullopt;
  text.remove_prefix(1);
  name.table = take_name(text);
  if (name.table.empty() || !text.empty()) return std::nullopt;
  return name;
}

}  // namespace sibyl::cli::shell
