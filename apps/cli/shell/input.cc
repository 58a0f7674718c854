#include "cli/shell/input.h"

#include <fcntl.h>
#include <histedit.h>
#include <langinfo.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <clocale>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <vector>

#include "cli/command_line/text.h"
#include "types/text.h"

namespace sibyl::cli::shell {
namespace {

constexpr int history_size = 2000;
constexpr size_t max_shown = 120;  // candidates listed at once

// The editor decodes input by the locale. Sets a UTF-8 locale if the environment sets none.
void use_utf8() {
  std::setlocale(LC_CTYPE, "");
  if (std::strcmp(nl_langinfo(CODESET), "UTF-8") != 0) std::setlocale(LC_CTYPE, "C.UTF-8");
}

// Input that is already waiting was pasted: a TAB in it is white space.
bool has_pending_input() {
  pollfd waiting{STDIN_FILENO, POLLIN, 0};
  return poll(&waiting, 1, 0) > 0;
}

}  // namespace

struct LineEditor::Impl {
  std::string history_file;
  Complete complete;
  std::string prompt;
  bool interrupted = false;
  EditLine* editor = nullptr;
  History* history = nullptr;

  static Impl& of(EditLine* editor) {
    void* data = nullptr;
    el_get(editor, EL_CLIENTDATA, &data);
    return *static_cast<Impl*>(data);
  }
  static char* prompt_of(EditLine* editor) { return of(editor).prompt.data(); }
  static unsigned char cancel(EditLine* editor, int) {
    of(editor).interrupted = true;
    std::fputs("^C\n", stdout);
    return CC_NEWLINE;
  }
  static unsigned char suspend(EditLine*, int) {
    kill(getpid(), SIGTSTP);
    return CC_REDISPLAY;
  }
  static unsigned char on_tab(EditLine* editor, int) { return of(editor).complete_line(); }

  unsigned char complete_line();
  void list(const Completions& completions) const;
  void add(const std::string& entry);
  void load_history();
};

unsigned char LineEditor::Impl::complete_line() {
  if (has_pending_input()) return el_insertstr(editor, " ") == 0 ? CC_REFRESH : CC_ERROR;
  const LineInfo* info = el_line(editor);
  const std::string line(info->buffer, static_cast<size_t>(info->lastchar - info->buffer));
  const auto cursor = static_cast<size_t>(info->cursor - info->buffer);
  const Completions completions = complete(line, cursor);
  if (completions.candidates.empty()) return CC_ERROR;

  const std::string typed = line.substr(completions.start, cursor - completions.start);
  std::string wanted = completions.common_prefix();
  const bool only = completions.candidates.size() == 1;
  if (only && completions.candidates[0].follow != 0 &&
      (cursor == line.size() || line[cursor] != completions.candidates[0].follow))
    wanted += completions.candidates[0].follow;
  if (wanted.size() <= typed.size() && !only) {
    list(completions);
    return CC_REDISPLAY;
  }
  el_deletestr(editor, static_cast<int>(types::count_characters(typed)));
  el_insertstr(editor, wanted.c_str());
  return CC_REFRESH;
}

void LineEditor::Impl::list(const Completions& completions) const {
  std::vector<std::string> names;
  for (const Candidate& candidate : completions.candidates) {
    if (names.size() == max_shown) break;
    names.push_back(escape_controls(candidate.text));
  }
  std::string text = "\n" + in_columns(names, terminal_width());
  if (completions.candidates.size() > names.size())
    text += "... and " + std::to_string(completions.candidates.size() - names.size()) + " more\n";
  std::fputs(text.c_str(), stdout);
  std::fflush(stdout);
}

void LineEditor::Impl::add(const std::string& entry) {
  HistEvent event;
  ::history(history, &event, H_ENTER, entry.c_str());
}

void LineEditor::Impl::load_history() {
  std::ifstream file(history_file);
  std::vector<std::string> entries;
  for (std::string line; std::getline(file, line);) entries.push_back(std::move(line));
  const bool too_long = entries.size() > 2 * static_cast<size_t>(history_size);
  if (entries.size() > history_size) entries.erase(entries.begin(), entries.end() - history_size);
  for (const std::string& entry : entries) add(entry);
  if (!too_long) return;
  std::ofstream rewritten(history_file, std::ios::trunc);
  for (const std::string& entry : entries) rewritten << entry << '\n';
}

LineEditor::LineEditor(std::string history_file, Complete complete) : impl_(std::make_unique<Impl>()) {
  use_utf8();
  impl_->history_file = std::move(history_file);
  impl_->complete = std::move(complete);
  impl_->history = history_init();
  HistEvent event;
  ::history(impl_->history, &event, H_SETSIZE, history_size);
  ::history(impl_->history, &event, H_SETUNIQUE, 1);

  EditLine* editor = el_init("sibyl", stdin, stdout, stderr);
  impl_->editor = editor;
  el_set(editor, EL_CLIENTDATA, impl_.get());
  el_set(editor, EL_PROMPT, &Impl::prompt_of);
  el_set(editor, EL_SIGNAL, 1);
  el_set(editor, EL_EDITOR, "emacs");
  el_set(editor, EL_HIST, ::history, impl_->history);
  el_set(editor, EL_ADDFN, "sibyl-complete", "Complete the word", &Impl::on_tab);
  el_set(editor, EL_ADDFN, "sibyl-cancel", "Discard the line", &Impl::cancel);
  el_set(editor, EL_ADDFN, "sibyl-suspend", "Suspend the shell", &Impl::suspend);
  el_set(editor, EL_BIND, "^I", "sibyl-complete", nullptr);
  el_set(editor, EL_BIND, "^R", "em-inc-search-prev", nullptr);
  // While a line is edited, Ctrl-C and Ctrl-Z are keys and do not send signals.
  el_set(editor, EL_SETTY, "-d", "-isig", nullptr);
  el_set(editor, EL_BIND, "^C", "sibyl-cancel", nullptr);
  el_set(editor, EL_BIND, "^Z", "sibyl-suspend", nullptr);
  el_source(editor, nullptr);
  impl_->load_history();
}

LineEditor::~LineEditor() {
  el_end(impl_->editor);
  history_end(impl_->history);
}

LineEditor::Input LineEditor::read(const std::string& prompt) {
  impl_->prompt = prompt;
  impl_->interrupted = false;
  // The editor would print the prompt before it takes over the terminal. A Ctrl-C or Ctrl-D in between would
  // not be read as a key and would be lost.
  el_set(impl_->editor, EL_PREP_TERM, 1);
  int count = 0;
  const char* line = el_gets(impl_->editor, &count);
  if (impl_->interrupted) return {Input::Event::interrupted, {}};
  if (line == nullptr || count <= 0) return {Input::Event::end, {}};
  std::string text(line, static_cast<size_t>(count));
  while (text.ends_with('\n') || text.ends_with('\r')) text.pop_back();
  return {Input::Event::line, std::move(text)};
}

void LineEditor::add_to_history(std::string_view statement) {
  const std::string joined = join_lines(statement);
  std::string appended;
  for (size_t start = 0; start < joined.size();) {
    const size_t end = std::min(joined.find('\n', start), joined.size());
    const std::string entry = joined.substr(start, end - start);
    if (entry.find_first_not_of(" \t") != std::string::npos) {
      impl_->add(entry);
      appended += entry + '\n';
    }
    start = end + 1;
  }
  if (impl_->history_file.empty() || appended.empty()) return;
  const int file = open(impl_->history_file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (file < 0) return;
  // A failure to write the history, for example on a full disk, must not end the session.
  [[maybe_unused]] const ssize_t written = write(file, appended.data(), appended.size());
  close(file);
}

std::string history_file_path() {
  if (const char* path = std::getenv("SIBYL_HISTORY")) return path;
  std::filesystem::path folder;
  if (const char* state = std::getenv("XDG_STATE_HOME"); state != nullptr && *state != '\0') {
    folder = state;
  } else if (const char* home = std::getenv("HOME"); home != nullptr && *home != '\0') {
    folder = std::filesystem::path(home) / ".local" / "state";
  } else {
    return {};
  }
  folder /= "sibyl";
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  return error ? std::string() : (folder / "history").string();
}

namespace {

// Appends a comment that may stand in the middle of a line.
void append_comment(std::string& joined, std::string_view text) {
  std::string inside(text);
  std::replace(inside.begin(), inside.end(), '\n', ' ');
  for (size_t at = 0; (at = inside.find("*/", at)) != std::string::npos;) inside.replace(at, 2, "* /");
  joined += "/*" + inside + "*/";
}

}  // namespace

std::string join_lines(std::string_view statement) {
  std::string joined;
  char quote = 0;
  for (size_t i = 0; i < statement.size(); ++i) {
    const char c = statement[i];
    if (quote != 0 && c == '\n') return std::string(statement);
    const std::string_view rest = statement.substr(i);
    if (quote == 0 && rest.starts_with("/*")) {
      const size_t end = std::min(rest.find("*/", 2), rest.size() - 2) + 2;
      append_comment(joined, rest.substr(2, end - 4));
      i += end - 1;
      continue;
    }
    if (quote == 0 && (rest.starts_with("--") || rest.starts_with("//"))) {
      const size_t end = std::min(rest.find('\n'), rest.size());
      append_comment(joined, rest.substr(2, end - 2));
      i += end - 1;
      continue;
    }
    if (quote == c) {
      quote = 0;
    } else if (quote == 0 && (c == '\'' || c == '"')) {
      quote = c;
    }
    const bool blank = quote == 0 && (c == '\n' || c == ' ' || c == '\t');
    if (!blank) {
      joined += c;
    } else if (!joined.empty() && joined.back() != ' ') {
      joined += ' ';
    }
  }
  while (joined.ends_with(' ')) joined.pop_back();
  return joined;
}

}  // namespace sibyl::cli::shell
