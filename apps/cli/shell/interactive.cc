// Shell: the interactive loop.
#include <fmt/format.h>

#include <algorithm>

#include "cli/shell/complete.h"
#include "cli/shell/input.h"
#include "cli/shell/interrupt.h"
#include "cli/shell/shell.h"

namespace sibyl::cli::shell {
namespace {

bool is_blank(std::string_view text) {
  return text.find_first_not_of(" \t\r\n") == std::string_view::npos;
}

// Returns the start of an incomplete statement in the input, or the end of the input if everything is
// complete.
size_t unfinished(std::string_view text) {
  const std::vector<Statement> statements = split_statements(text);
  return statements.empty() || statements.back().complete ? text.size() : statements.back().offset;
}

// Returns true for a line that users type when they are stuck in an incomplete statement.
bool wants_out(std::string_view line) {
  const std::optional<Command> command = parse_command(line);
  return command && command->arguments.empty() &&
         (command->kind == Command::Kind::exit || command->kind == Command::Kind::help);
}

}  // namespace

std::string Shell::prompt(bool continued) const {
  const std::string first =
      session_.keyspace().empty() ? "sibyl> " : fmt::format("sibyl:{}> ", session_.keyspace());
  if (!continued) return first;
  return std::string(display_width(first) - 4, ' ') + "... ";
}

void Shell::print_banner() {
  const ServerVersions versions = session_.versions();
  say(fmt::format("Connected to {} {}", palette_.paint(Colour::blue, versions.cluster_name),
                  session_.place()));
  say(fmt::format("[Cassandra {} | CQL spec {} | Native protocol v{}]", versions.release, versions.cql,
                  versions.protocol));
  say("Use HELP for help.");
}

void Shell::run_interactive() {
  std::string pending;  // lines of an incomplete statement
  std::string entry;    // the same lines from the first one on, for the history
  size_t blank_lines = 0;
  LineEditor editor(history_file_path(), [&](std::string_view line, size_t cursor) {
    Completions completions =
        complete(pending + std::string(line), pending.size() + cursor, session_.names(), session_.keyspace());
    // The word at the cursor never spans lines, so it starts in this line.
    completions.start = std::max(completions.start, pending.size()) - pending.size();
    return completions;
  });
  catch_interrupts();
  print_banner();
  while (!exiting_) {
    clear_interrupts();
    const LineEditor::Input input = editor.read(prompt(!pending.empty()));
    if (input.event == LineEditor::Input::Event::end) {
      say("");
      return;
    }
    if (input.event == LineEditor::Input::Event::interrupted) {
      pending.clear();
      entry.clear();
      continue;
    }
    pending += input.line + '\n';
    entry += input.line + '\n';
    blank_lines = is_blank(input.line) ? blank_lines + 1 : 0;
    const size_t rest = unfinished(pending);
    const std::string ready = pending.substr(0, rest);
    pending.erase(0, rest);
    if (pending.empty()) {
      if (!contains_password(entry)) editor.add_to_history(entry);
      entry.clear();
    } else if (blank_lines == 2 || (pending.size() > input.line.size() + 1 && wants_out(input.line))) {
      say("A statement ends with a semicolon (;). Ctrl-C discards it.");
    }
    run_text(ready, "");
  }
}

}  // namespace sibyl::cli::shell
