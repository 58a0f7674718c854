// Lines from a terminal: editing, history, completion.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "sibyl/shell_complete.h"

namespace sibyl::shell {

// One per process: it owns the terminal while a line is read.
class LineEditor {
 public:
  // Given the current line and the cursor in it, what TAB offers; `start` is an offset in the line.
  using Complete = std::function<Completions(std::string_view line, size_t cursor)>;

  // History is read from `history_file` and appended to it entry by entry, so that two shells can share it
  // and a killed one loses nothing. Empty: no history is kept.
  LineEditor(std::string history_file, Complete complete);
  ~LineEditor();
  LineEditor(const LineEditor&) = delete;
  LineEditor& operator=(const LineEditor&) = delete;

  struct Input {
    enum class Event { line, interrupted, end };
    Event event = Event::end;
    std::string line;  // without its newline
  };
  // `interrupted`: Ctrl-C, the line is dropped. `end`: Ctrl-D on an empty line, or the terminal is gone.
  Input read(const std::string& prompt);

  // Adds a statement to the history, on one line where that keeps its meaning.
  void remember(std::string_view statement);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// $SIBYL_HISTORY, or sibyl/history in the XDG state directory, whose folders are created; empty when there is
// no home.
std::string history_file_path();

// The statement as history keeps it: lines joined by spaces, unless a line comment or a string goes over a
// line's end. Then newlines stay.
std::string join_lines(std::string_view statement);

}  // namespace sibyl::shell
