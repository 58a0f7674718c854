// `sibyl shell`: runs statements and shell commands from a terminal, a script or the command line.
#pragma once

#include <cstddef>
#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cli/command_line/text.h"
#include "cli/session/session.h"
#include "cli/shell/result.h"
#include "cli/shell/script.h"

namespace sibyl::cli::shell {

// A command line of this program. For COPY.
struct ProgramCall {
  std::vector<std::string> arguments;
  std::string user, password;  // empty: the shell's own user and password are used
};

struct ShellOptions {
  Format format = Format::table;
  bool interactive = false;  // waits after each page; errors do not end a script
  bool colour = false;
  bool pager = true;        // wait after each page when interactive
  bool keep_going = false;  // continue after a failed statement
  // Runs this program on the same server and returns its exit status. Empty: the session has no server.
  std::function<int(const ProgramCall&)> run_program;
};

class Shell {
 public:
  // `session` must outlive the shell. Results go to `out`, errors to `errors`.
  Shell(Session& session, const ShellOptions& options, std::FILE* out, std::FILE* errors);
  ~Shell();
  Shell(const Shell&) = delete;
  Shell& operator=(const Shell&) = delete;

  // Runs all statements of a text. `name` ("script.cql") and the line precede error messages, unless the name
  // is empty. Returns false if a statement failed and the rest was not run.
  bool run_text(std::string_view text, const std::string& name);
  // Like run_text(), for an open file, pipe or socket. Runs statements as they arrive.
  bool run_stream(int input, const std::string& name);
  // Reads from the terminal until EXIT or Ctrl-D.
  void run_interactive();

  // True once any statement has failed.
  bool failed() const { return failed_; }

 private:
  struct Origin {
    std::string name;  // empty: the command line or the terminal
    size_t line = 1;   // number of the statement's first line
  };

  // --- shell.cc: statements
  // Runs the complete statements of `text`, which begins at `line` of the input `name`. Sets `consumed` to
  // the start of the rest. `at_end`: no more input follows, so the last statement needs no `;`.
  bool run_pieces(std::string_view text, const std::string& name, size_t line, bool at_end, size_t& consumed);
  bool run(const Statement& statement, const Origin& origin);
  bool run_cql(const Statement& statement, const Origin& origin);
  base::Result<StatementResult> ask(std::string_view text, const StatementOptions& options);
  bool print_pages(StatementResult result, const Statement& statement, const StatementOptions& options,
                   const Origin& origin);
  // Waits at "---MORE---". Returns false if the user wants no more rows.
  bool wait_for_more();
  // shell/trace.cc: prints the steps of a trace. Returns false if the server does not have it.
  bool print_trace(const Bytes& id);
  StatementOptions statement_options() const;
  bool report(const base::Error& error, std::string_view statement, const Origin& origin);
  void print(std::string_view text);  // prints results, which go to the file when CAPTURE is on
  void say(std::string_view text);    // messages of the shell itself
  void write(std::string_view text, std::FILE* target);
  // Returns false if a write since the last call failed, after reporting it. A script ends then.
  bool flush();

  // --- shell/commands.cc: each returns false after printing an error
  struct Invocation;
  bool run_command(const Command& command, const Statement& statement, const Origin& origin);
  bool copy(const Invocation& invocation);
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

  // --- shell/interactive.cc
  std::string prompt(bool continued) const;
  void print_banner();

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
  int write_error_ = 0;  // the first write error since flush(), as errno
  bool failed_ = false;
  bool exiting_ = false;
  size_t source_depth_ = 0;
  std::string user_, password_;  // user and password of the last LOGIN
};

}  // namespace sibyl::cli::shell
