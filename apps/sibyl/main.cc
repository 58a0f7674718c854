// The one binary: `sibyl serve`, `sibyl shell` and the rest of commands.h.
#include <CLI/CLI.hpp>

#include "sibyl/commands.h"

namespace {

constexpr int exit_usage = 2;

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Sibyl: a wide-column database that speaks Cassandra's CQL and native protocol", "sibyl");
  app.set_version_flag("--version", "sibyl " SIBYL_VERSION);
  app.require_subcommand(1);
  app.failure_message(CLI::FailureMessage::help);
  sibyl::add_serve_command(app);
  sibyl::add_shell_command(app);
  sibyl::add_bench_command(app);
  sibyl::add_layout_command(app);
  sibyl::add_advise_command(app);
  sibyl::add_snapshot_command(app);
  sibyl::add_import_command(app);
  sibyl::add_export_command(app);
  sibyl::add_status_command(app);
  sibyl::add_maintenance_commands(app);
  try {
    app.parse(argc, argv);
  } catch (const CLI::RuntimeError& status) {
    return status.get_exit_code();
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : exit_usage;
  }
  return 0;
}
