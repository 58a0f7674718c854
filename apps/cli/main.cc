// The binary: `sibyl serve`, `sibyl shell` and the other commands of its folders.
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <sstream>
#include <string>
#include <system_error>
#include <vector>

#include "advisor/workload/workload.h"
#include "cli/advise/advise.h"
#include "cli/bench/bench.h"
#include "cli/cluster/cluster.h"
#include "cli/commands.h"
#include "cli/copy/export.h"
#include "cli/copy/import.h"
#include "cli/demo/demo.h"
#include "cli/exit_status.h"
#include "cli/import_sstables/import_sstables.h"
#include "cli/layout/layout.h"
#include "cli/migrate/command.h"
#include "cli/operate/maintenance.h"
#include "cli/operate/recover.h"
#include "cli/operate/snapshot.h"
#include "cli/operate/status.h"
#include "cli/serve/serve.h"
#include "cli/shell/command.h"

namespace {

// If a standard descriptor is closed, the next file or socket would get its number, and output would go
// there. So closed descriptors are opened on /dev/null. Standard input and output are opened in the wrong
// direction, so that reading and printing fail. Standard error is opened for writing, so that its output is
// discarded.
void hold_standard_descriptors() {
  for (const int number : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(number, F_GETFD) != -1 || errno != EBADF) continue;
    const int opened = ::open("/dev/null", number == STDOUT_FILENO ? O_RDONLY : O_WRONLY);
    if (opened >= 0 && opened != number) ::close(opened);
  }
}

// True if the reader of standard output has closed it, as in `| head`. That is not a failure.
bool is_reader_gone() {
  pollfd output{STDOUT_FILENO, POLLOUT, 0};
  return ::poll(&output, 1, 0) > 0 && (output.revents & (POLLERR | POLLHUP)) != 0;
}

int output_failed(int status, int why) {
  if (why == EPIPE || is_reader_gone()) return status;
  std::fprintf(stderr, "sibyl: cannot write to standard output%s%s\n", why == 0 ? "" : ": ",
               why == 0 ? "" : std::strerror(why));
  return status == 0 ? sibyl::cli::exit_failed : status;
}

// Flushes standard output. Only now is it known whether buffered output could be written.
int check_output(int status) {
  const bool failed_before = std::ferror(stdout) != 0;
  errno = 0;
  if (std::fflush(stdout) == 0 && !failed_before) return status;
  return output_failed(status, errno);
}

int refuse_usage(const CLI::App& app, const std::string& why) {
  std::string name = app.get_name();
  const CLI::App* chosen = &app;
  for (; !chosen->get_subcommands().empty(); name += " " + chosen->get_name())
    chosen = chosen->get_subcommands().back();
  std::fputs(fmt::format("{}: {}\nSee `{} --help`.\n", name, why, name).c_str(), stderr);
  return sibyl::cli::exit_refused;
}

// Returns the error for a word that is not a command.
std::string unknown_command(const CLI::App& app, const std::string& word) {
  if (word.starts_with('-')) return fmt::format("unknown option '{}'", word);
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands(nullptr)) names.push_back(command->get_name());
  const std::string nearest = sibyl::advisor::nearest(word, names);
  return fmt::format("unknown command '{}'{}", word,
                     nearest.empty() ? "" : fmt::format("; did you mean '{}'?", nearest));
}

int run(CLI::App& app, int argc, char** argv) {
  try {
    app.parse(argc, argv);
  } catch (const CLI::RuntimeError& status) {
    return status.get_exit_code();
  } catch (const CLI::ParseError& error) {
    if (argc == 1) {
      std::fputs(app.help().c_str(), stderr);
      return sibyl::cli::exit_refused;
    }
    const std::vector<std::string> words = app.remaining();
    if (app.get_subcommands().empty() && !words.empty())
      return refuse_usage(app, unknown_command(app, words.front()));
    if (error.get_exit_code() == 0) {  // --help, --version
      std::ostringstream page;
      app.exit(error, page, page);
      std::fputs(page.str().c_str(), stdout);
      return 0;
    }
    return refuse_usage(app, error.what());
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  hold_standard_descriptors();
  spdlog::set_level(spdlog::level::warn);  // `serve` sets a level of its own
  CLI::App app("Sibyl: a wide-column database that speaks Cassandra's CQL and native protocol", "sibyl");
  app.set_version_flag("--version", "sibyl " SIBYL_VERSION);
  app.require_subcommand(1);
  sibyl::cli::add_serve_command(app);
  sibyl::cli::add_demo_command(app);
  sibyl::cli::add_shell_command(app);
  sibyl::cli::add_bench_command(app);
  sibyl::cli::add_layout_command(app);
  sibyl::cli::add_advise_command(app);
  sibyl::cli::add_snapshot_command(app);
  sibyl::cli::add_recover_command(app);
  sibyl::cli::add_import_command(app, sibyl::cli::import_sstables::run_import_sstables);
  sibyl::cli::add_export_command(app);
  sibyl::cli::add_migrate_command(app);
  sibyl::cli::add_status_command(app);
  sibyl::cli::add_maintenance_commands(app);
  sibyl::cli::add_cluster_command(app);
  try {
    return check_output(run(app, argc, argv));
  } catch (const std::system_error& error) {  // thrown by fmt::print when it flushes a full buffer
    if (std::ferror(stdout) == 0) throw;
    return output_failed(0, error.code().value());
  }
}
