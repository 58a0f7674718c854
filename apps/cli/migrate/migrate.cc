#include "cli/migrate/migrate.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <thread>

#include "base/consistency.h"
#include "cli/command_line/password.h"
#include "cli/command_line/tls_flags.h"
#include "cli/copy/copy.h"
#include "cli/migrate/copier.h"
#include "cli/migrate/interruption.h"
#include "cli/migrate/plan.h"
#include "cli/migrate/schema_copier.h"
#include "cli/migrate/verify.h"
#include "cli/session/network.h"

namespace sibyl::cli::migrate {
namespace {

constexpr const char* migrate_command = "migrate";

using Clock = std::chrono::steady_clock;

// The two servers of a run.
struct Servers {
  client::Options from, to;
  client::Consistency consistency = client::Consistency::local_quorum;
  std::unique_ptr<client::Connection> source, target;
};

std::string place_of(const client::Options& server) {
  return fmt::format("{}:{}", server.host, server.port);
}

base::Result<client::Options> client_options(const ServerOptions& server, const char* password_variable) {
  const auto address = shell::parse_address(server.address);
  if (!address)
    return base::fail(base::ErrorCode::invalid, fmt::format("'{}' is not HOST[:PORT]", server.address));
  client::Options options = server.client;
  options.host = address->host;
  options.port = address->port;
  if (options.user.empty() || server.has_password) return options;
  if (const char* password = std::getenv(password_variable)) {
    options.password = password;
    return options;
  }
  SIBYL_ASSIGN(options.password, shell::ask_password(options.user));
  return options;
}

// The consistency levels for reads and for writes.
base::Result<base::Consistency> consistency_of(const std::string& name) {
  using base::Consistency;
  const std::optional<Consistency> level = base::consistency_named(name);
  if (level && *level != Consistency::any && *level != Consistency::each_quorum && !base::is_serial(*level))
    return *level;
  return base::fail(base::ErrorCode::invalid, fmt::format("Unknown consistency level '{}'", name));
}

base::Result<std::unique_ptr<client::Connection>> connect_to(const client::Options& server,
                                                             const char* role) {
  auto connection = client::Connection::connect(server);
  if (connection) return connection;
  return base::fail(
      shell::connect_error(server, connection.error(), fmt::format("Is the {} running?", role)));
}

base::Result<Servers> connect_servers(const MigrateOptions& options) {
  Servers servers;
  SIBYL_ASSIGN(servers.consistency, consistency_of(options.consistency));
  SIBYL_ASSIGN(servers.from, client_options(options.from, "SIBYL_FROM_PASSWORD"));
  SIBYL_ASSIGN(servers.to, client_options(options.to, "SIBYL_TO_PASSWORD"));
  if (servers.from.host == servers.to.host && servers.from.port == servers.to.port)
    return base::fail(base::ErrorCode::invalid, "--from and --to name the same server");
  SIBYL_ASSIGN(servers.source, connect_to(servers.from, "source"));
  SIBYL_ASSIGN(servers.target, connect_to(servers.to, "target"));
  return servers;
}

base::Result<copy::Journal> open_journal(const MigrateOptions& options, const Servers& servers) {
  if (options.verify || options.schema_only) return copy::Journal::open("", "", false);
  std::string chosen;
  for (const std::string& name : options.keyspaces) chosen += " " + name;
  for (const std::string& name : options.tables) chosen += " " + name;
  std::string path = options.journal;
  if (path.empty()) path = fmt::format("migrate-{}-{}.journal", place_of(servers.from), place_of(servers.to));
  std::ranges::replace(path, ':', '-');
  return copy::Journal::open(
      options.journal.empty() ? path : options.journal,
      fmt::format("migrate from {} to {}:{} in {} ranges", place_of(servers.from), place_of(servers.to),
                  chosen.empty() ? " all keyspaces" : chosen, ranges_per_part),
      options.restart);
}

ReaderOptions reader_options(const MigrateOptions& options, const Servers& servers,
                             const client::Options& server, const Ranges& ranges) {
  ReaderOptions reader;
  reader.server = server;
  reader.consistency = servers.consistency;
  reader.page_size = options.page_size;
  reader.stop = &ranges.is_stopped();
  return reader;
}

void run_workers(unsigned jobs, const std::function<void()>& work) {
  std::vector<std::thread> workers;
  for (unsigned i = 0; i < jobs; ++i) workers.emplace_back(work);
  for (std::thread& worker : workers) worker.join();
}

std::string summary(const char* verb, const Plan& plan, uint64_t rows, Clock::time_point begin) {
  const double seconds = std::max(std::chrono::duration<double>(Clock::now() - begin).count(), 1e-3);
  size_t tables = 0;
  for (const SourceKeyspace& keyspace : plan.keyspaces) tables += keyspace.tables.size();
  return fmt::format("{} {} rows of {} tables in {:.1f} s ({} rows/s)", verb, rows, tables, seconds,
                     copy::rate_text(static_cast<double>(rows) / seconds));
}

int report_stop(copy::Progress& progress, const Ranges& ranges, const base::Error& error, const char* verb) {
  progress.finish(fmt::format("stopped after {} rows", ranges.rows()));
  copy::refuse(migrate_command, error);
  fmt::print(stderr, "Run the same command again to {}.\n", verb);
  return exit_stopped;
}

// Copies the data. Returns the exit status, or nullopt if everything was copied.
std::optional<int> copy_data(const MigrateOptions& options, const Servers& servers, const Plan& plan,
                             copy::Journal& journal, Report& report) {
  const auto begin = Clock::now();
  copy::Progress progress("copied", options.quiet);
  Ranges ranges(plan.parts, journal, progress);
  if (ranges.resumed_ranges() > 0)
    fmt::print(stderr, "resuming: {} of {} ranges and {} rows are copied\n", ranges.resumed_ranges(),
               ranges.count(), ranges.rows());
  const ReaderOptions reader = reader_options(options, servers, servers.from, ranges);
  WriterOptions writer;
  writer.server = servers.to;
  writer.consistency = servers.consistency;
  writer.window = options.window;
  writer.stop = &ranges.is_stopped();
  writer.reject = [&report](const std::string& row, const std::string& why) {
    return report.reject(row, why);
  };
  {
    const Interruption interruption([&] { ranges.interrupt(); });
    run_workers(options.jobs, [&] { Copier(reader, writer, plan.parts, ranges, report).run(); });
  }
  auto error = ranges.error();
  if (const base::Status saved = ranges.save(); !saved && !error) error = saved.error();
  if (!error && ranges.is_interrupted()) error = base::Error(base::ErrorCode::server, "interrupted");
  if (error) return report_stop(progress, ranges, *error, "resume");
  progress.finish(summary("copied", plan, ranges.new_rows(), begin));
  return std::nullopt;
}

int finish_report(const Report& report) {
  const std::string text = report.text();
  fmt::print("{}", text);
  return report.has_losses() ? exit_failed : 0;
}

int verify_data(const MigrateOptions& options, const Servers& servers, const Plan& plan,
                const Report& report) {
  const auto begin = Clock::now();
  auto journal = copy::Journal::open("", "", false);
  copy::Progress progress("compared", options.quiet);
  Ranges ranges(plan.parts, *journal, progress);
  Differences differences;
  const ReaderOptions source = reader_options(options, servers, servers.from, ranges);
  const ReaderOptions target = reader_options(options, servers, servers.to, ranges);
  run_workers(options.jobs, [&] { Verifier(source, target, plan.parts, ranges, differences).run(); });
  if (const auto error = ranges.error()) return report_stop(progress, ranges, *error, "compare again");
  progress.finish(summary("compared", plan, ranges.new_rows(), begin));
  if (const std::string text = differences.text(); !text.empty()) fmt::print("{}", text);
  if (differences.rows() == 0 && !report.has_losses())
    fmt::print("No differences: the checksums of all {} ranges are equal.\n", ranges.count());
  const int reported = finish_report(report);
  return differences.rows() > 0 ? exit_failed : reported;
}

// Copies schema and data, in an order that can be resumed at any point: every definition has IF NOT EXISTS.
int copy_all(const MigrateOptions& options, Servers& servers, Plan plan, copy::Journal& journal,
             Report& report) {
  SchemaCopier schema(servers.target, report);
  if (!options.skip_schema)
    if (const base::Status made = schema.copy_tables(plan.keyspaces); !made)
      return copy::refuse(migrate_command, made.error());
  if (!options.schema_only) {
    auto parts = plan_parts(*servers.source, plan.keyspaces, report);
    if (!parts) return copy::refuse(migrate_command, parts.error());
    plan.parts = std::move(*parts);
    if (const auto stopped = copy_data(options, servers, plan, journal, report)) return *stopped;
    // The connection may have been idle for hours.
    auto target = connect_to(servers.to, "target");
    if (!target) return copy::refuse(migrate_command, target.error());
    servers.target = std::move(*target);
  }
  if (!options.skip_schema) {
    base::Status made = schema.copy_indexes_and_views(plan.keyspaces);
    if (made && !options.schema_only) made = schema.wait_for_builds();
    if (!made) {
      copy::refuse(migrate_command, made.error());
      return exit_stopped;
    }
  }
  report.add_note("roles and permissions were not copied");
  return finish_report(report);
}

}  // namespace

int run_migrate(const MigrateOptions& options) {
  auto servers = connect_servers(options);
  if (!servers) return copy::refuse(migrate_command, servers.error());
  Report report(options.max_errors);
  Plan plan;
  auto keyspaces = read_chosen(*servers->source, options);
  if (!keyspaces) return copy::refuse(migrate_command, keyspaces.error());
  plan.keyspaces = std::move(*keyspaces);
  if (plan.keyspaces.empty())
    return copy::refuse(migrate_command, {base::ErrorCode::invalid, "The source has no keyspaces to copy"});
  auto journal = open_journal(options, *servers);
  if (!journal) return copy::refuse(migrate_command, journal.error());
  if (!options.verify) return copy_all(options, *servers, std::move(plan), *journal, report);
  auto parts = plan_parts(*servers->source, plan.keyspaces, report);
  if (!parts) return copy::refuse(migrate_command, parts.error());
  plan.parts = std::move(*parts);
  return verify_data(options, *servers, plan, report);
}

}  // namespace sibyl::cli::migrate
