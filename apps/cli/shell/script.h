// Splits input into CQL statements and shell commands.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sibyl::cli::shell {

// A shell command and its arguments.
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
  std::string name;                    // upper case, abbreviations expanded: DESCRIBE for desc
  std::vector<std::string> arguments;  // strings without their quotes
};
// Returns nullopt if the text is not a shell command.
std::optional<Command> parse_command(std::string_view text);
// The commands for HELP and completion, sorted.
const std::vector<std::string_view>& command_names();

struct Statement {
  std::string text;      // from the first word, without preceding comments
  size_t offset = 0;     // offset of `text` in the script
  size_t end = 0;        // start of the text that follows
  bool complete = true;  // false for a last statement that needs more input
};
// Statements end with `;`. Shell commands also end with a line. Blank and comment-only pieces are omitted,
// except an unclosed comment, which is an incomplete statement.
std::vector<Statement> split_statements(std::string_view script);
// Returns true if the script has a LOGIN with a password, which must not be written to a history file.
bool contains_password(std::string_view script);

// Returns the offset of the first byte at or after `offset` that is neither white space nor in a comment.
// Returns npos inside an unclosed comment.
size_t skip_blank(std::string_view text, size_t offset);

// Parses "keyspace.table", each with or without double quotes. Unquoted names become lower case. Returns
// nullopt for other texts.
struct TableName {
  std::string keyspace, table;
};
std::optional<TableName> parse_table_name(std::string_view text);

}  // namespace sibyl::cli::shell
