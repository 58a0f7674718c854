#include "cli/import_sstables/import_sstables.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <set>

#include "cli/import_sstables/merge.h"
#include "cli/import_sstables/partition_importer.h"
#include "cli/import_sstables/table_plan.h"
#include "sstable/data_reader.h"
#include "types/identifier.h"

namespace sibyl::cli::import_sstables {
namespace {

constexpr const char* import_command = "import";
using Readers = std::vector<std::unique_ptr<sstable::DataReader>>;

// Opens all SSTables, and checks that they belong to the table.
base::Result<Readers> open_readers(const std::string& directory, const TablePlan& plan,
                                   migrate::Report& report) {
  SIBYL_ASSIGN(const std::vector<sstable::Files> found, sstable::find_files(directory));
  Readers readers;
  std::set<std::string> unknown;
  for (const sstable::Files& files : found) {
    SIBYL_ASSIGN(auto reader, sstable::DataReader::open(files));
    SIBYL_ASSIGN(const std::vector<std::string> columns,
                 check_header(plan, reader->header(), reader->file()));
    unknown.insert(columns.begin(), columns.end());
    readers.push_back(std::move(reader));
  }
  for (const std::string& column : unknown)
    report.add_loss(fmt::format("column {} of {}", types::quote_identifier(column), plan.name),
                    "the table does not have it; Cassandra keeps the cells of dropped columns for a while");
  return readers;
}

base::Status import_all(Merge& merge, PartitionImporter& importer, copy::Progress& progress) {
  SIBYL_TRY(importer.open());
  while (true) {
    SIBYL_ASSIGN(const std::vector<Merge::Member> members, merge.next());
    if (members.empty()) return importer.finish();
    SIBYL_TRY(importer.import(members));
    progress.update(merge.offset(), merge.data_length(), importer.rows(), merge.offset());
  }
}

int finish(const copy::ImportOptions& options, const PartitionImporter& importer,
           const migrate::Report& report, copy::Progress& progress, const base::Status& done,
           double seconds) {
  const std::string rows =
      fmt::format("{} rows in {:.1f} s ({} rows/s)", importer.rows(), seconds,
                  copy::rate_text(static_cast<double>(importer.rows()) / std::max(seconds, 1e-3)));
  progress.finish(fmt::format("{} {}", done ? "imported" : "stopped after", rows));
  fmt::print("{}", report.text());
  if (importer.kept_lists() > 0)
    fmt::print("{} lists were in {} already and were left as they are.\n", importer.kept_lists(),
               options.table);
  if (!done) {
    copy::refuse(import_command, done.error());
    return exit_stopped;
  }
  return report.has_losses() ? exit_failed : 0;
}

}  // namespace

int run_import_sstables(const copy::ImportOptions& options) {
  auto server = copy::server_of(options);
  if (!server) return copy::refuse(import_command, server.error());
  server->version = protocol::Version::v5;  // this is the first version with a time in each request
  auto connection = copy::connect(*server);
  if (!connection) return copy::refuse(import_command, connection.error());
  const auto table = copy::find_table(**connection, options.table);
  if (!table) return copy::refuse(import_command, table.error());
  const auto plan = plan_table(**connection, table->keyspace, table->name);
  if (!plan) return copy::refuse(import_command, plan.error());
  migrate::Report report(options.max_errors);
  auto readers = open_readers(options.sstables, *plan, report);
  if (!readers) return copy::refuse(import_command, readers.error());
  migrate::WriterOptions writer;
  writer.server = *server;
  writer.window = options.window;
  writer.consistency = client::Consistency::local_quorum;
  writer.reject = [&report](const std::string& row, const std::string& why) {
    return report.reject(row, why);
  };
  const auto begin = std::chrono::steady_clock::now();
  copy::Progress progress("imported", options.quiet);
  Merge merge(std::move(*readers));
  PartitionImporter importer(*plan, writer, report);
  const base::Status done = import_all(merge, importer, progress);
  return finish(options, importer, report, progress, done,
                std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
}

}  // namespace sibyl::cli::import_sstables
