// Cutting input into CQL statements and shell commands.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sibyl::shell {

// A word that the shell itself understands at the start of a statement, with what follows it.
struct Command {
  enum class Kind {
    capture,
    clear,
    consistency,
    copy,
    describe,
    exit,
    expand,
    help,
    login,
    paging,
    serial,
    show,
    source,
    tracing
  };
  Kind kind = Kind::help;
  std::string name;                    // upper case, short spellings written out: DESCRIBE for desc
  std::vector<std::string> arguments;  // strings without their quotes
};
// nullopt when the text is not a shell command.
std::optional<Command> parse_command(std::string_view text);
// Those that HELP and completion show, sorted.
const std::vector<std::string_view>& command_names();

struct Statement {
  std::string text;      // from its first word on, without the comments before it
  size_t offset = 0;     // of `text` in the script
  size_t end = 0;        // where what follows it begins
  bool complete = true;  // false for a last one that wants more input
};
// Statements end with `;`, shell commands with a line too. Blank and comment-only pieces are left out, except
// an unfinished comment, which is an incomplete statement.
std::vector<Statement> split_statements(std::string_view script);
// It has a LOGIN with its password, which no history file should have.
bool tells_password(std::string_view script);

// The offset of the first byte at or after `offset` that is neither white space nor in a comment; npos inside
// of a comment that does not end.
size_t skip_blank(std::string_view text, size_t offset);

// "keyspace.table", each with or without double quotes; unquoted names are lower case. nullopt when it is
// neither.
struct TableName {
  std::string keyspace, table;
};
std::optional<TableName> parse_table_name(std::string_view text);

}  // namespace sibyl::shell
