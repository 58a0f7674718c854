// `sibyl shell`: the command line.
#include "cli/shell/command.h"

#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/file.h"
#include "cli/command_line/password.h"
#include "cli/command_line/refuse.h"
#include "cli/command_line/tls_flags.h"
#include "cli/commands.h"
#include "cli/session/embedded.h"
#include "cli/session/network.h"
#include "cli/session/session.h"
#include "cli/session/statement_error.h"
#include "cli/shell/shell.h"
#include "client/connection.h"
#include "types/identifier.h"

namespace sibyl::cli {
namespace {

using shell::Shell;

struct Arguments {
  std::string address;
  std::string data;
  client::Options server;  // login and TLS; the address is above
  bool has_password = false;
  std::vector<std::string> statements;
  std::string file;
  std::string keyspace;
  std::string format = "table";
  bool no_color = false;
  bool no_pager = false;
  bool keep_going = false;
};

int refuse(const base::Error& error) {
  return cli::refuse("shell", exit_refused, error);
}
int refuse(const std::string& message) {
  return refuse(base::Error(base::ErrorCode::server, message));
}

base::Result<std::unique_ptr<shell::Session>> start_session(const Arguments& arguments) {
  if (!arguments.data.empty()) return shell::open_session(arguments.data);
  const std::optional<shell::Address> address = shell::parse_address(arguments.address);
  if (!address)
    return base::fail(
        base::Error(base::ErrorCode::server, fmt::format("'{}' is not an address", arguments.address))
            .with_hint("Write HOST or HOST:PORT, such as 127.0.0.1:9042."));
  client::Options server = arguments.server;
  server.host = address->host;
  server.port = address->port;
  return shell::connect_session(
      server,
      "Start a server with `sibyl serve`, name another one as HOST:PORT, or work on a data directory without "
      "a server: `sibyl shell --data DIR`.");
}

bool wants_colour(const Arguments& arguments) {
  const char* terminal = std::getenv("TERM");
  const char* no_color = std::getenv("NO_COLOR");
  return !arguments.no_color && (no_color == nullptr || *no_color == '\0') && isatty(STDOUT_FILENO) != 0 &&
         terminal != nullptr && *terminal != '\0' && std::strcmp(terminal, "dumb") != 0;
}

// Runs this program with other arguments, on the server of the shell, and returns its exit status.
int run_program(const Arguments& arguments, const shell::ProgramCall& call) {
  const client::Options& server = arguments.server;
  std::vector<std::string> words = {"sibyl"};
  words.insert(words.end(), call.arguments.begin(), call.arguments.end());
  const auto add = [&](const char* flag, const std::string& value) {
    if (!value.empty()) words.insert(words.end(), {flag, value});
  };
  add("--host", arguments.address);
  add("--user", call.user.empty() ? server.user : call.user);
  if (server.tls.enabled) words.emplace_back("--ssl");
  add("--ssl-ca", server.tls.ca_file);
  add("--ssl-certificate", server.tls.certificate_file);
  add("--ssl-key", server.tls.key_file);
  if (!server.tls.verify) words.emplace_back("--ssl-no-verify");
  // The password is passed in the environment, because other users of the machine could see an argument.
  setenv("SIBYL_PASSWORD", (call.user.empty() ? server.password : call.password).c_str(), 1);

  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  pid_t child = 0;
  int status = 0;
  if (posix_spawn(&child, "/proc/self/exe", nullptr, nullptr, argv.data(), environ) != 0) return exit_failed;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : exit_failed;
}

bool run_file(Shell& shell, int file, const std::string& name) {
  const bool succeeded = shell.run_stream(file, name);
  if (file != STDIN_FILENO) close(file);
  return succeeded;
}

// The file is opened before connecting, so that a wrong name fails immediately.
int run(Arguments& arguments) {
  int file = -1;
  if (!arguments.file.empty()) {
    const auto opened =
        arguments.file == "-" ? base::Result<int>(STDIN_FILENO) : base::open_to_read(arguments.file);
    if (!opened) return refuse(fmt::format("cannot open {}: {}", arguments.file, opened.error().message()));
    file = *opened;
  }
  if (!arguments.server.user.empty() && !arguments.has_password) {
    auto password = shell::ask_password(arguments.server.user);
    if (!password) return refuse(password.error());
    arguments.server.password = std::move(*password);
  }
  auto session = start_session(arguments);
  if (!session) return refuse(session.error());
  if (!arguments.keyspace.empty()) {
    const auto used = (*session)->execute("USE " + types::quote_identifier(arguments.keyspace), {});
    if (!used) return refuse(used.error());
  }

  const bool scripted = file >= 0 || !arguments.statements.empty();
  shell::ShellOptions options;
  options.format = *shell::parse_format(arguments.format);
  options.interactive = !scripted && isatty(STDIN_FILENO) != 0;
  options.colour = options.interactive && wants_colour(arguments);
  options.pager = !arguments.no_pager && isatty(STDOUT_FILENO) != 0;
  options.keep_going = arguments.keep_going;
  if (arguments.data.empty())
    options.run_program = [&arguments](const shell::ProgramCall& call) {
      return run_program(arguments, call);
    };
  Shell shell(**session, options, stdout, stderr);
  if (options.interactive) {
    shell.run_interactive();
    return 0;
  }
  bool going = true;
  for (const std::string& statement : arguments.statements) going = going && shell.run_text(statement, "");
  if (going && file >= 0) run_file(shell, file, arguments.file == "-" ? "stdin" : arguments.file);
  if (!scripted) shell.run_stream(STDIN_FILENO, "stdin");
  std::fflush(stdout);
  return shell.failed() ? exit_failed : 0;
}

}  // namespace

void add_shell_command(CLI::App& app) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* command = app.add_subcommand("shell", "Interactive CQL, over the network or on a data directory");
  command->add_option("address,--host", arguments->address, "The server: HOST[:PORT] (127.0.0.1:9042)");
  command->add_option("-u,--user,--username", arguments->server.user,
                      "User name, if the server requires a login. Without -p, the password is asked for");
  CLI::Option* password =
      command->add_option("-p,--password", arguments->server.password, "The user's password");
  password->needs("--user");
  CLI::Option* data =
      command->add_option("--data", arguments->data,
                          "Work on this data directory (or :memory:) in this process, without a server");
  data->excludes(command->get_option("address"));
  command->add_option("-e,--execute", arguments->statements, "Run these statements and exit; may be repeated")
      ->take_all()
      ->allow_extra_args(false);
  command->add_option("-f,--file", arguments->file,
                      "Run the statements of a file (-: standard input) and exit");
  command->add_option("-k,--keyspace", arguments->keyspace, "USE this keyspace first");
  command
      ->add_option("--format", arguments->format,
                   "Output format: table, expanded, csv or json (one row per line)")
      ->check(CLI::IsMember({"table", "expanded", "csv", "json"}))
      ->capture_default_str();
  command->add_flag("--no-color", arguments->no_color, "No colours");
  command->add_flag("--no-pager", arguments->no_pager, "Do not pause after each page");
  command->add_flag("--keep-going", arguments->keep_going, "In scripts, continue after a failed statement");
  add_ssl_flags(*command, arguments->server.tls);
  command->footer(
      "Exit status: 0 all statements succeeded, 1 a statement failed, 2 wrong usage or no connection.");
  command->callback([arguments, password] {
    arguments->has_password = password->count() > 0;
    if (const int status = run(*arguments); status != 0) throw CLI::RuntimeError(status);
  });
}

}  // namespace sibyl::cli
