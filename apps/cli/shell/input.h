// Reads lines from a terminal, with editing, history and completion.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "cli/shell/complete.h"

namespace sibyl::cli::shell {

// There may be only one per process: it owns the terminal while reading a line.
class LineEditor {
 public:
  // Returns the candidates for TAB. `start` is an offset in the line.
  using Complete = std::function<Completions(std::string_view line, size_t cursor)>;

  // Reads the history from `history_file` and appends each entry immediately, so that two shells can share
  // the file and a killed shell loses nothing. Empty: no history is kept.
  LineEditor(std::string history_file, Complete complete);
  ~LineEditor();
  LineEditor(const LineEditor&) = delete;
  LineEditor& operator=(const LineEditor&) = delete;

  struct Input {
    enum class Event { line, interrupted, end };
    Event event = Event::end;
    std::string line;  // without its newline
  };
  // `interrupted`: Ctrl-C was pressed and the line is discarded. `end`: Ctrl-D on an empty line, or the
  // terminal was closed.
  Input read(const std::string& prompt);

  // Adds a statement to the history, joined into one line if that keeps its meaning.
  void add_to_history(std::string_view statement);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// $SIBYL_HISTORY, or sibyl/history in the XDG state directory, which is created if missing. Empty if there is
// no home directory.
std::string history_file_path();

// Joins the lines of a statement with spaces, for the history. Line comments become /* */. Newlines are kept
// if a string spans a line end.
std::string join_lines(std::string_view statement);

}  // namespace sibyl::cli::shell
