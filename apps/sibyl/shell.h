// `sibyl shell`: runs statements and shell commands from a terminal, a script or the command line.
#pragma once

#include <cstddef>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>

#include "sibyl/session.h"
#include "sibyl/shell_result.h"
#include "sibyl/shell_script.h"
#include "sibyl/shell_text.h"

namespace sibyl::shell {

struct ShellOptions {
  Format format = Format::table;
  bool interactive = false;  // a person reads along: pages wait, errors do not end a script
  bool colour = false;
  bool pager = true;        // wait after each page when interactive
  bool keep_going = false;  // go on after a failed statement
};

class Shell {
 public:
  // `session` must outlive the shell. Results go to `out`, errors to `errors`.
  Shell(Session& session, const ShellOptions& options, std::FILE* out, std::FILE* errors);
  ~Shell();
  Shell(const Shell&) = delete;
  Shell& operator=(const Shell&) = delete;

  // Runs all statements of a text. `name` ("script.cql") and the line go before error messages; without a
  // name they are left out. False when a statement failed and the rest was not run.
  bool run_text(std::string_view text, const std::string& name);
  // The same for an open file, pipe or socket, as its statements arrive.
  bool run_stream(int input, const std::string& name);
  // Reads from the terminal until EXIT or Ctrl-D.
  void run_interactive();

  // Some statement failed.
  bool failed() const { return failed_; }

 private:
  struct Origin {
    std::string name;  // empty: the command line or a person
    size_t line = 1;   // of the statement's first line
  };

  // --- shell.cc: statements
  // Runs the complete statements of `text`, which begins at `line` of the input `name`. `consumed` is where
  // the rest begins. `at_end`: no more input follows, so that a last statement needs no `;`.
  bool run_pieces(std::string_view text, const std::string& name, size_t line, bool at_end, size_t& consumed);
  bool run(const Statement& statement, const Origin& origin);
  bool run_cql(const Statement& statement, const Origin& origin);
  base::Result<StatementResult> ask(std::string_view text, const StatementOptions& options);
  bool print_pages(StatementResult result, const Statement& statement, const StatementOptions& options,
                   const Origin& origin);
  // Waits at "---MORE---"; false when the rest is not wanted.
  bool wait_for_more();
  // shell_trace.cc: what the server did, step by step.
  // False: the server does not know it.
  bool print_trace(const Bytes& id);
  StatementOptions statement_options() const;
  bool report(const base::Error& error, std::string_view statement, const Origin& origin);
  void print(std::string_view text);  // results: captured when CAPTURE is on
  void say(std::string_view text);    // about the shell itself
  void write(std::string_view text, std::FILE* target);
  // False when something since the last call could not be written, of which it has told; a script ends then.
  bool flush();

  // --- shell_commands.cc: each returns false after having said what is wrong
  struct Invocation;
  bool run_command(const Command& command, const Statement& statement, const Origin& origin);
  bool describe(const Invocation& invocation);
  bool source(const Invocation& invocation);
  bool source_file(const std::string& path, const Invocation& invocation);
  bool capture(const Invocation& invocation);
  bool consistency(const Invocation& invocation);
  bool serial_consistency(const Invocation& invocation);
  bool paging(const Invocation& invocation);
  bool login(const Invocation& invocation);
  bool show(const Invocation& invocation);
  bool show_session(const Invocation& invocation);
  bool help(const Invocation& invocation);
  bool tracing(const Invocation& invocation);
  bool on_off(const Invocation& invocation, bool& value);
  bool refuse(const Invocation& invocation, std::string_view message, std::string_view hint = {});

  // --- shell_interactive.cc
  std::string prompt(bool continued) const;
  void introduce();

  Session& session_;
  ShellOptions options_;
  Palette palette_;
  std::FILE* out_;
  std::FILE* errors_;
  std::FILE* capture_ = nullptr;
  std::string capture_name_;
  Consistency consistency_ = Consistency::one;
  Consistency serial_consistency_ = Consistency::serial;
  bool paging_ = true;
  int32_t page_size_;
  bool expand_ = false;
  bool tracing_ = false;
  int write_error_ = 0;  // the first since flush(), as errno
  bool failed_ = false;
  bool exiting_ = false;
  size_t source_depth_ = 0;
};

}  // namespace sibyl::shell
