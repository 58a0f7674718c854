// `sibyl bench`: a load generator for any CQL server.
//
// Creates its keyspace and tables, and loads the rows that the workload reads. A marker row records what was
// loaded, so that this is done once. Then runs the workload with prepared statements, and prints throughput,
// latencies and, for a server on this machine, the server's CPU time per operation.
#include "cli/bench/bench.h"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "base/process.h"
#include "cli/bench/load.h"
#include "cli/command_line/refuse.h"
#include "cli/commands.h"
#include "cli/session/session.h"
#include "client/connection.h"
#include "types/value.h"

namespace sibyl::cli {
namespace {

using bench::Load;
using bench::LoadResult;
using bench::Operation;
using client::Connection;

struct Arguments {
  std::string host = "127.0.0.1:9042";
  std::string workload = "write";
  std::string keyspace = "sibyl_bench";
  unsigned threads = 1;
  unsigned connections = 8;
  unsigned in_flight = 64;
  double seconds = 10;
  uint64_t operations = 0;
  uint64_t keys = 1'000'000;
  size_t row_bytes = 100;
  uint64_t rows_per_partition = 1000;
  uint64_t slice_rows = 100;
  double read_share = 0.5;
  uint64_t seed = 1;
  int pid = 0;
  bool json = false;
  bool quiet = false;
};

struct Measurement {
  LoadResult result;
  int pid = 0;  // 0: the server is not on this machine, or is not visible
  double cpu_seconds = 0, background_cpu_seconds = 0;
  uint64_t resident_bytes = 0;
};

base::Status run_all(Connection& connection, const std::vector<std::string>& statements) {
  for (const auto& statement : statements) SIBYL_TRY(connection.query(statement));
  return {};
}

base::Status make_tables(Connection& connection, const std::string& keyspace) {
  return run_all(
      connection,
      {fmt::format("CREATE KEYSPACE IF NOT EXISTS {} WITH replication = {{'class': 'SimpleStrategy', "
                   "'replication_factor': 1}}",
                   keyspace),
       fmt::format("CREATE TABLE IF NOT EXISTS {}.points (key bigint PRIMARY KEY, value blob)", keyspace),
       fmt::format(
           "CREATE TABLE IF NOT EXISTS {}.slices (key bigint, position int, value blob, PRIMARY KEY (key, "
           "position))",
           keyspace),
       fmt::format("CREATE TABLE IF NOT EXISTS {}.loaded (name text PRIMARY KEY, what text)", keyspace)});
}

Operation point_write(const Arguments& arguments) {
  return {fmt::format("INSERT INTO {}.points (key, value) VALUES (?, ?)", arguments.keyspace),
          {Operation::Value::key, Operation::Value::bytes},
          false};
}
Operation point_read(const Arguments& arguments) {
  return {fmt::format("SELECT value FROM {}.points WHERE key = ?", arguments.keyspace),
          {Operation::Value::key},
          true};
}
Operation slice_write(const Arguments& arguments) {
  return {fmt::format("INSERT INTO {}.slices (key, position, value) VALUES (?, ?, ?)", arguments.keyspace),
          {Operation::Value::partition, Operation::Value::position, Operation::Value::bytes},
          false};
}
Operation slice_read(const Arguments& arguments) {
  return {fmt::format("SELECT position, value FROM {}.slices WHERE key = ? AND position >= ? LIMIT {}",
                      arguments.keyspace, arguments.slice_rows),
          {Operation::Value::partition, Operation::Value::position},
          true};
}

Load make_load(const Arguments& arguments, const client::Options& server) {
  Load load;
  load.server = server;
  load.threads = arguments.threads;
  load.connections = arguments.connections;
  load.in_flight = arguments.in_flight;
  load.keys = arguments.keys;
  load.row_bytes = arguments.row_bytes;
  load.rows_per_partition = arguments.rows_per_partition;
  load.slice_rows = arguments.slice_rows;
  load.operation_count = arguments.operations;
  if (arguments.operations == 0)
    load.duration = std::chrono::nanoseconds(static_cast<int64_t>(arguments.seconds * 1e9));
  load.seed = arguments.seed;
  if (arguments.workload == "write") load.operations = {point_write(arguments)};
  if (arguments.workload == "read") load.operations = {point_read(arguments)};
  if (arguments.workload == "slice") load.operations = {slice_read(arguments)};
  if (arguments.workload == "mixed") load.operations = {point_read(arguments), point_write(arguments)};
  load.weights = {arguments.read_share, 1 - arguments.read_share};
  load.weights.resize(load.operations.size(), 1);
  return load;
}

void show_progress(const Arguments& arguments, const char* what, double seconds, uint64_t done,
                   uint64_t errors, uint64_t& before, double& seconds_before) {
  if (!arguments.quiet) {
    const double rate = static_cast<double>(done - before) / (seconds - seconds_before);
    fmt::print(stderr, "{:>6.0f} s  {}  {:>9.0f} op/s  {:>11} done{}\n", seconds, what, rate, done,
               errors > 0 ? fmt::format("  {} errors", errors) : "");
  }
  before = done;
  seconds_before = seconds;
}

base::Result<LoadResult> run_shown(const Arguments& arguments, const char* what, const Load& load) {
  uint64_t before = 0;
  double seconds_before = 0;
  return bench::run_load(load, [&](double seconds, uint64_t done, uint64_t errors) {
    show_progress(arguments, what, seconds, done, errors, before, seconds_before);
  });
}

// Loads the rows that the workload reads, unless the marker says that they are already loaded.
base::Status preload(const Arguments& arguments, Connection& connection, const client::Options& server) {
  if (arguments.workload == "write") return {};
  const bool slices = arguments.workload == "slice";
  const std::string name = slices ? "slices" : "points";
  const std::string what = slices ? fmt::format("{} rows of {} bytes, {} a partition", arguments.keys,
                                                arguments.row_bytes, arguments.rows_per_partition)
                                  : fmt::format("{} rows of {} bytes", arguments.keys, arguments.row_bytes);
  const std::vector<types::ValueView> key = {types::ValueView::of(name)};
  SIBYL_ASSIGN(
      auto marker,
      connection.query(fmt::format("SELECT what FROM {}.loaded WHERE name = ?", arguments.keyspace), key));
  client::Row row;
  if (marker.next(row) && row[0] == what) return {};
  fmt::print(stderr, "loading {}\n", what);
  Load load = make_load(arguments, server);
  load.operations = {slices ? slice_write(arguments) : point_write(arguments)};
  load.weights = {1};
  load.sequential = true;
  load.in_flight = std::max(load.in_flight, 256u);
  load.operation_count = arguments.keys;
  load.duration = {};
  SIBYL_ASSIGN(const LoadResult loaded, run_shown(arguments, "loading", load));
  if (loaded.errors > 0)
    return base::fail(base::ErrorCode::server, fmt::format("{} rows could not be loaded: {}", loaded.errors,
                                                           loaded.error_texts.begin()->first));
  const std::vector<types::ValueView> values = {types::ValueView::of(name), types::ValueView::of(what)};
  SIBYL_TRY(connection.query(
      fmt::format("INSERT INTO {}.loaded (name, what) VALUES (?, ?)", arguments.keyspace), values));
  return {};
}

// Names of threads that flush and compact begin with this.
constexpr std::string_view background_threads = "rocksdb:";

// The id of the process that serves at this address; 0 if it is not on this machine, or not visible to this
// user.
int find_server(const std::string& host, uint16_t port) {
  const bool is_local = host == "localhost" || host == "::1" || host.starts_with("127.");
  return is_local ? base::find_listener(port).value_or(0) : 0;
}

base::Result<Measurement> measure(const Arguments& arguments) {
  const auto address = shell::parse_address(arguments.host);
  if (!address)
    return base::fail(base::ErrorCode::server, fmt::format("'{}' is not HOST:PORT", arguments.host));
  client::Options server;
  server.host = address->host;
  server.port = address->port;
  server.connect_timeout = std::chrono::seconds(10);
  SIBYL_ASSIGN(auto connection, Connection::connect(server));
  SIBYL_TRY(make_tables(*connection, arguments.keyspace));
  SIBYL_TRY(preload(arguments, *connection, server));

  Measurement measurement;
  measurement.pid = arguments.pid != 0 ? arguments.pid : find_server(server.host, server.port);
  const auto before = base::usage_of(measurement.pid);
  const double background_before = base::thread_cpu_seconds(measurement.pid, background_threads);
  SIBYL_ASSIGN(measurement.result,
               run_shown(arguments, arguments.workload.c_str(), make_load(arguments, server)));
  const auto after = base::usage_of(measurement.pid);
  if (!before || !after) {
    measurement.pid = 0;
    return measurement;
  }
  measurement.cpu_seconds = after->cpu_seconds - before->cpu_seconds;
  measurement.background_cpu_seconds =
      base::thread_cpu_seconds(measurement.pid, background_threads) - background_before;
  measurement.resident_bytes = after->resident_bytes;
  return measurement;
}

double microseconds(const LoadResult& result, double share) {
  return static_cast<double>(result.latencies.quantile(share)) / 1e3;
}

double micros_per_operation(const Measurement& measurement, double seconds) {
  const auto operations = static_cast<double>(std::max<uint64_t>(measurement.result.operations, 1));
  return seconds * 1e6 / operations;
}
double cpu_micros_per_operation(const Measurement& measurement) {
  return micros_per_operation(measurement, measurement.cpu_seconds);
}
// Time of flushes and compactions, which may also belong to earlier operations.
double background_micros_per_operation(const Measurement& measurement) {
  return micros_per_operation(measurement, measurement.background_cpu_seconds);
}

void print_text(const Arguments& arguments, const Measurement& measurement) {
  const LoadResult& result = measurement.result;
  fmt::print("{}: {} operations in {:.2f} s, {:.0f} op/s, {} in flight on {} connections\n",
             arguments.workload, result.operations, result.seconds,
             static_cast<double>(result.operations) / result.seconds, arguments.in_flight,
             arguments.connections);
  fmt::print("latency   p50 {:.0f} us   p99 {:.0f} us   p99.9 {:.0f} us   max {:.0f} us\n",
             microseconds(result, 0.5), microseconds(result, 0.99), microseconds(result, 0.999),
             static_cast<double>(result.latencies.largest()) / 1e3);
  if (result.rows > 0)
    fmt::print("rows      {:.0f} a second, {} reads found nothing\n",
               static_cast<double>(result.rows) / result.seconds, result.empty_reads);
  if (measurement.pid != 0)
    fmt::print(
        "server    {:.2f} us of CPU per operation ({:.2f} us of it flush and compact), {:.0f} % of one core, "
        "{:.1f} MiB resident (process {})\n",
        cpu_micros_per_operation(measurement), background_micros_per_operation(measurement),
        100 * measurement.cpu_seconds / result.seconds,
        static_cast<double>(measurement.resident_bytes) / (1u << 20), measurement.pid);
  fmt::print("errors    {}\n", result.errors);
  for (const auto& [text, count] : result.error_texts) fmt::print("  {} x {}\n", count, text);
}

void print_json(const Arguments& arguments, const Measurement& measurement) {
  const LoadResult& result = measurement.result;
  std::string server = "null";
  if (measurement.pid != 0)
    server = fmt::format(
        R"({{"pid": {}, "cpu_us_per_operation": {:.3f}, "background_cpu_us_per_operation": {:.3f}, "cpu_seconds": {:.2f}, "resident_bytes": {}}})",
        measurement.pid, cpu_micros_per_operation(measurement), background_micros_per_operation(measurement),
        measurement.cpu_seconds, measurement.resident_bytes);
  fmt::print(
      R"({{"workload": "{}", "operations": {}, "errors": {}, "seconds": {:.3f}, "operations_per_second": {:.1f}, )"
      R"("rows": {}, "empty_reads": {}, "connections": {}, "in_flight": {}, "threads": {}, "keys": {}, "row_bytes": {}, )"
      R"("latency_us": {{"p50": {:.1f}, "p99": {:.1f}, "p999": {:.1f}, "max": {:.1f}}}, "server": {}}})"
      "\n",
      arguments.workload, result.operations, result.errors, result.seconds,
      static_cast<double>(result.operations) / result.seconds, result.rows, result.empty_reads,
      arguments.connections, arguments.in_flight, arguments.threads, arguments.keys, arguments.row_bytes,
      microseconds(result, 0.5), microseconds(result, 0.99), microseconds(result, 0.999),
      static_cast<double>(result.latencies.largest()) / 1e3, server);
}

int run(const Arguments& arguments) {
  const auto measurement = measure(arguments);
  if (!measurement) return refuse("bench", exit_refused, measurement.error());
  if (arguments.json) {
    print_json(arguments, *measurement);
  } else {
    print_text(arguments, *measurement);
  }
  return measurement->result.errors > 0 ? 1 : 0;
}

}  // namespace

void add_bench_command(CLI::App& app) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* command = app.add_subcommand("bench", "Load a CQL server and measure it");
  command->add_option("--host", arguments->host, "The server: HOST[:PORT]")->capture_default_str();
  command
      ->add_option(
          "--workload", arguments->workload,
          "write: single rows; read: single rows; slice: runs of rows in wide partitions; mixed: reads and "
          "writes")
      ->check(CLI::IsMember({"write", "read", "slice", "mixed"}))
      ->capture_default_str();
  command->add_option("--connections", arguments->connections, "Connections")
      ->check(CLI::Range(1u, 100'000u))
      ->capture_default_str();
  command->add_option("--in-flight", arguments->in_flight, "Requests in flight on all connections together")
      ->check(CLI::Range(1u, 10'000'000u))
      ->capture_default_str();
  command->add_option("--duration", arguments->seconds, "Seconds to run")
      ->check(CLI::Range(0.001, 1e7))
      ->capture_default_str();
  command->add_option("--operations", arguments->operations,
                      "Number of operations to run, instead of --duration");
  command->add_option("--keys", arguments->keys, "Number of different rows")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command->add_option("--row-bytes", arguments->row_bytes, "Bytes in a row's value")->capture_default_str();
  command->add_option("--threads", arguments->threads, "Threads of the load generator")
      ->check(CLI::Range(1u, 1024u))
      ->capture_default_str();
  command->add_option("--partition-rows", arguments->rows_per_partition, "slice: rows in a partition")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command->add_option("--slice-rows", arguments->slice_rows, "slice: rows in one read")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command->add_option("--read-share", arguments->read_share, "mixed: the share of reads")
      ->check(CLI::Range(0.0, 1.0))
      ->capture_default_str();
  command->add_option("--keyspace", arguments->keyspace, "Keyspace for its tables")->capture_default_str();
  command->add_option("--pid", arguments->pid, "Process id of the server (default: found by its port)");
  command->add_option("--seed", arguments->seed, "Seed of the random keys and values")->capture_default_str();
  command->add_flag("--json", arguments->json, "Print the result as JSON");
  command->add_flag("--quiet", arguments->quiet, "No progress");
  command->footer("Exit status: 0 all requests succeeded, 1 some failed, 2 could not run.");
  command->callback([arguments] {
    if (const int status = run(*arguments); status != 0) throw CLI::RuntimeError(status);
  });
}

}  // namespace sibyl::cli
