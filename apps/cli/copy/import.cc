// `sibyl import`: reads a CSV file, or a file with one JSON object per line, into a table.
#include "cli/copy/import.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <thread>

#include "cli/copy/import_rows.h"
#include "cli/copy/kept.h"

namespace sibyl::cli::copy {
namespace {

constexpr size_t piece_bytes = 64 << 10;
constexpr const char* import_command = "import";

std::string using_clause(const ImportOptions& options) {
  if (options.ttl && options.timestamp)
    return fmt::format(" USING TTL {} AND TIMESTAMP {}", *options.ttl, *options.timestamp);
  if (options.ttl) return fmt::format(" USING TTL {}", *options.ttl);
  if (options.timestamp) return fmt::format(" USING TIMESTAMP {}", *options.timestamp);
  return "";
}

std::string statement_of(const TableInfo& table, const ImportPlan& plan, const ImportOptions& options) {
  if (plan.dialect.is_json)
    return fmt::format("INSERT INTO {} JSON ?{}{}", table.quoted_name(),
                       options.write_nulls ? "" : " DEFAULT UNSET", using_clause(options));
  std::string markers;
  for (size_t i = 0; i < plan.columns.size(); ++i) markers += i == 0 ? "?" : ", ?";
  return fmt::format("INSERT INTO {} ({}) VALUES ({}){}", table.quoted_name(), quoted_list(plan.columns),
                     markers, using_clause(options));
}

// Returns the column names in the first record, if it has them.
base::Result<std::string> header_columns(const ImportPlan& plan, RecordFile& file) {
  RecordFile::Piece first;
  SIBYL_ASSIGN(const bool found, file.next_record(first));
  std::string names;
  if (!found) return names;
  SIBYL_ASSIGN(const std::vector<Field> fields, parse_record(plan.dialect, first.text));
  for (const Field& field : fields) names += (names.empty() ? "" : ",") + field.text;
  return names;
}

base::Result<ImportPlan> plan_import(const ImportOptions& options, const TableInfo& table, RecordFile& file) {
  ImportPlan plan;
  SIBYL_ASSIGN(plan.dialect, dialect_of(options));
  plan.write_nulls = options.write_nulls;
  if (table.is_counter)
    return base::fail(
        base::Error(base::ErrorCode::invalid,
                    fmt::format("{} has counters, which cannot be imported", table.quoted_name()))
            .with_hint("an increment that may have been executed cannot be repeated safely"));
  if (!plan.dialect.is_json) {
    std::string names = options.columns;
    if (options.header) {
      SIBYL_ASSIGN(const std::string told, header_columns(plan, file));
      if (names.empty()) names = told;
    }
    SIBYL_ASSIGN(plan.columns, choose_columns(table, names));
    for (const std::string& column : table.primary_key)
      if (std::find(plan.columns.begin(), plan.columns.end(), column) == plan.columns.end())
        return base::fail(base::ErrorCode::invalid,
                          fmt::format("The primary key column '{}' is not among the columns", column));
    for (const std::string& column : plan.columns)
      plan.is_key.push_back(std::find(table.primary_key.begin(), table.primary_key.end(), column) !=
                            table.primary_key.end());
  }
  plan.statement = statement_of(table, plan, options);
  return plan;
}

// The time of the server, whose clock also gave timestamps to existing data.
base::Result<int64_t> server_micros(client::Connection& connection) {
  SIBYL_ASSIGN(client::Result answer, connection.query("SELECT toTimestamp(now()) FROM system.local"));
  client::Row row;
  if (!answer.next(row) || !row[0] || row[0]->size() != sizeof(int64_t))
    return base::fail(base::ErrorCode::server, "The server did not return its time");
  return static_cast<int64_t>(base::read_big_endian<uint64_t>(*row[0])) * 1000;
}

// Identifies a run. Only an identical run can be resumed.
std::string run_name(const ImportOptions& options, const client::Options& server, const ImportPlan& plan) {
  struct stat status{};
  (void)::stat(options.file.c_str(), &status);
  return fmt::format("{} {}{} of {} bytes changed at {}.{:09}", plan.statement,
                     run_text(options, server, plan.dialect), options.write_nulls ? ", nulls written" : "",
                     status.st_size, status.st_mtim.tv_sec, status.st_mtim.tv_nsec);
}

// Output files of the import replace existing files, so they must differ from the input file and from each
// other.
base::Status check_apart(const std::string& file, const std::string& rejected, const std::string& journal) {
  namespace fs = std::filesystem;
  std::error_code none_there;
  const auto fail = [](const std::string& text, const char* option) {
    return base::fail(base::Error(base::ErrorCode::invalid, text)
                          .with_hint(fmt::format("name another file with {}", option)));
  };
  for (const std::string& kept : {rejected, reasons_path(rejected)}) {
    if (fs::equivalent(file, kept, none_there))
      return fail(fmt::format("{} would be overwritten by its rejected rows", file), "--rejected");
    if (!journal.empty() &&
        fs::weakly_canonical(journal, none_there) == fs::weakly_canonical(kept, none_there))
      return fail(fmt::format("{} is also the file for rejected rows", journal), "--journal");
  }
  if (fs::equivalent(file, journal, none_there))
    return fail(fmt::format("{} would be overwritten by its journal", file), "--journal");
  return {};
}

// Divides the file into pieces, until it ends or the import stops.
base::Status read_pieces(RecordFile& file, const Dialect& dialect, ImportState& state) {
  for (uint64_t index = 0;; ++index) {
    auto work = std::make_shared<PieceWork>();
    work->index = index;
    SIBYL_ASSIGN(const bool found, file.next(piece_bytes, work->piece));
    if (!found) return {};
    uint64_t line = work->piece.first_line;
    for (std::string_view rest = work->piece.text; !rest.empty();) {
      const size_t size = record_end(dialect, rest);
      const std::string_view record = rest.substr(0, size == 0 ? rest.size() : size);
      if (record.find_first_not_of("\r\n") != std::string_view::npos)
        work->records.emplace_back(line, record);
      line += static_cast<uint64_t>(std::count(record.begin(), record.end(), '\n'));
      rest.remove_prefix(record.size());
    }
    work->open = work->records.size();
    if (!state.push(std::move(work))) return {};
  }
}

int finish(const ImportOptions& options, const std::string& rejected_path, ImportState& state,
           Progress& progress, double seconds) {
  const auto error = state.finish();
  const std::string rows =
      fmt::format("{} rows in {:.1f} s ({} rows/s)", state.written(), seconds,
                  rate_text(static_cast<double>(state.written()) / std::max(seconds, 1e-3)));
  const std::string rejected =
      state.rejected() == 0 ? "" : fmt::format("; {} rejected: see {}", state.rejected(), rejected_path);
  if (error) {
    progress.finish(fmt::format("stopped after {}{}", rows, rejected));
    refuse(import_command, *error);
    if (!is_stream(options.file)) fmt::print(stderr, "Run the same command again to resume.\n");
    return exit_stopped;
  }
  state.journal().remove();
  progress.finish(fmt::format("imported {}{}", rows, rejected));
  return state.rejected() == 0 ? 0 : exit_failed;
}

}  // namespace

int run_import(const ImportOptions& options) {
  const auto server = server_of(options);
  if (!server) return refuse(import_command, server.error());
  const auto dialect = dialect_of(options);
  if (!dialect) return refuse(import_command, dialect.error());
  auto file = RecordFile::open(options.file, *dialect);
  if (!file) return refuse(import_command, file.error());
  auto connection = connect(*server);
  if (!connection) return refuse(import_command, connection.error());
  const auto table = find_table(**connection, options.table);
  if (!table) return refuse(import_command, table.error());
  auto plan = plan_import(options, *table, *file);
  if (!plan) return refuse(import_command, plan.error());
  if (const auto known = (*connection)->prepare(plan->statement); !known)
    return refuse(import_command, known.error());
  if (!options.timestamp) {
    const auto now = server_micros(**connection);
    if (!now) return refuse(import_command, now.error());
    plan->first_timestamp = *now;
  }

  const bool is_stream = copy::is_stream(options.file);
  const std::string base = is_stream ? fmt::format("{}.{}", table->keyspace, table->name) : options.file;
  const std::string rejected = options.rejected.empty() ? base + ".rejected" : options.rejected;
  const std::string remembered = is_stream                 ? ""
                                 : options.journal.empty() ? options.file + ".import"
                                                           : options.journal;
  if (const auto apart = check_apart(options.file, rejected, remembered); !apart)
    return refuse(import_command, apart.error());
  for (const std::string& kept : {rejected, reasons_path(rejected)})
    if (const auto ours = check_own_file(kept); !ours) return refuse(import_command, ours.error());
  auto journal = Journal::open(remembered, run_name(options, *server, *plan), options.restart);
  if (!journal) return refuse(import_command, journal.error());
  if (journal->is_resumed() && journal->number("bytes") > 0) {
    fmt::print(stderr, "continuing at byte {} of {}\n", journal->number("bytes"), options.file);
    if (const auto sought = file->seek(journal->number("bytes"), journal->number("line")); !sought)
      return refuse(import_command, sought.error());
  }

  const auto begin = std::chrono::steady_clock::now();
  Progress progress("imported", options.quiet);
  ImportState state(options, std::move(*journal), progress, rejected, file->size().value_or(0));
  std::vector<std::thread> writers;
  for (unsigned i = 0; i < options.jobs; ++i)
    writers.emplace_back([&] { ImportWriter(*server, *plan, options.window, state).run(); });
  if (const auto read = read_pieces(*file, *dialect, state); !read) state.stop(read.error());
  state.end_of_file();
  for (std::thread& writer : writers) writer.join();
  return finish(options, rejected, state, progress,
                std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
}

}  // namespace sibyl::cli::copy

namespace sibyl::cli {

void add_import_command(CLI::App& app, std::function<int(const copy::ImportOptions&)> import_sstables) {
  auto options = std::make_shared<copy::ImportOptions>();
  CLI::App* command = app.add_subcommand(
      "import", "Write the rows of a CSV or JSON file, or Cassandra's data files, to a table");
  copy::add_common_options(*command, *options);
  command->get_option("file")->required(false);
  command->add_option("--sstables", options->sstables,
                      "A directory with Cassandra's data files of the table, such as a snapshot");
  command->add_option("--max-errors", options->max_errors, "Stop if more rows than this are rejected")
      ->capture_default_str();
  command->add_option("--rejected", options->rejected, "The file for rejected rows (default: FILE.rejected)");
  command->add_option("--journal", options->journal,
                      "The file that records the progress of the import (default: FILE.import)");
  command->add_option("--ttl", options->ttl, "Seconds until the rows expire");
  command->add_option("--timestamp", options->timestamp,
                      "Timestamp of the writes, in microseconds since 1970 (default: now)");
  command->add_flag("--write-nulls", options->write_nulls,
                    "Nulls delete existing values instead of leaving them unchanged");
  command->add_option("--window", options->window, "Writes in flight on each connection")
      ->check(CLI::Range(1u, 2048u))
      ->capture_default_str();
  command->footer(
      "Exit status: 0 all rows were written, 1 some were rejected, 2 wrong usage or no connection, 3 "
      "stopped; the "
      "same command resumes.");
  command->callback([options, import_sstables] {
    if (options->file.empty() == options->sstables.empty())
      throw CLI::ValidationError("name either a file or --sstables");
    const int status = options->sstables.empty() ? copy::run_import(*options) : import_sstables(*options);
    if (status != 0) throw CLI::RuntimeError(status);
  });
}

}  // namespace sibyl::cli
