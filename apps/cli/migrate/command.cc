#include "cli/migrate/command.h"

#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "cli/command_line/tls_flags.h"
#include "cli/migrate/migrate.h"

namespace sibyl::cli {
namespace {

void add_server(CLI::App& command, migrate::ServerOptions& server, const std::string& prefix,
                const char* role) {
  command.add_option("--" + prefix, server.address, std::string("HOST[:PORT] of the ") + role)->required();
  command.add_option("--" + prefix + "-user", server.client.user,
                     std::string("User name on the ") + role + ", if it requires a login");
  command
      .add_option("--" + prefix + "-password", server.client.password,
                  "The user's password, visible to other users of this machine")
      ->each([&server](const std::string&) { server.has_password = true; });
  add_ssl_flags(command, server.client.tls, prefix + "-");
}

void add_choices(CLI::App& command, migrate::MigrateOptions& options) {
  command.add_option("-k,--keyspace", options.keyspaces, "A keyspace to copy; repeatable (default: all)");
  command.add_option("-t,--table", options.tables, "KEYSPACE.TABLE to copy; repeatable (default: all)");
  auto* verify = command.add_flag("--verify", options.verify, "Compare both servers instead of copying");
  auto* schema_only =
      command.add_flag("--schema-only", options.schema_only, "Create the schema, copy no rows");
  auto* skip_schema = command.add_flag("--skip-schema", options.skip_schema,
                                       "Copy rows into tables that exist on the target");
  schema_only->excludes(verify)->excludes(skip_schema);
}

void add_tuning(CLI::App& command, migrate::MigrateOptions& options) {
  command.add_option("--consistency", options.consistency, "Consistency level of reads and writes")
      ->capture_default_str();
  command.add_option("--jobs", options.jobs, "Number of token ranges copied at a time")
      ->check(CLI::Range(1u, 64u))
      ->capture_default_str();
  command.add_option("--window", options.window, "Rows in flight to the target for each of them")
      ->check(CLI::Range(1u, 2048u))
      ->capture_default_str();
  command.add_option("--page-size", options.page_size, "Rows fetched at a time")
      ->check(CLI::Range(10, 100'000))
      ->capture_default_str();
  command.add_option("--max-errors", options.max_errors, "Stop if more rows than this are rejected")
      ->capture_default_str();
  command.add_option("--journal", options.journal,
                     "The file that records the progress (default: migrate-FROM-TO.journal)");
  command.add_flag("--restart", options.restart, "Start from the beginning, ignoring earlier runs");
  command.add_flag("-q,--quiet", options.quiet, "No progress");
}

}  // namespace

void add_migrate_command(CLI::App& app) {
  auto options = std::make_shared<migrate::MigrateOptions>();
  CLI::App* command = app.add_subcommand(
      "migrate", "Copy keyspaces from a Cassandra, or another Sibyl, to a running server, or compare both");
  add_server(*command, options->from, "from", "source");
  add_server(*command, options->to, "to", "target");
  add_choices(*command, *options);
  add_tuning(*command, *options);
  command->footer(
      "Passwords that are not given are read from SIBYL_FROM_PASSWORD and SIBYL_TO_PASSWORD, or asked for.\n"
      "Exit status: 0 everything is on the target, 1 something was not carried over or rows differ (see the "
      "report), 2 wrong usage or no connection, 3 stopped; run the same command again to resume.");
  command->callback([options] {
    if (const int status = migrate::run_migrate(*options); status != 0) throw CLI::RuntimeError(status);
  });
}

}  // namespace sibyl::cli
