// `sibyl serve`: a server on a data directory.
//
// Prints one line, "ready on HOST:PORT", to standard output once the server answers. A server of a cluster
// first prints "joining as HOST:PORT". The log goes to standard error.
//
// SIGHUP: reopens the log file and reloads certificates. SIGTERM, SIGINT: answers the requests in flight,
// flushes the memory tables and exits with status 0.
//
// Exits with status 2 if settings or certificates are invalid or the data directory cannot be opened, with 3
// if the server cannot listen on the address, and with 4 if another server of the cluster has the database
// now.
#include "cli/serve/serve.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <pthread.h>
#include <spdlog/spdlog.h>
#include <sys/resource.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <boost/json.hpp>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/memory.h"
#include "cli/command_line/refuse.h"
#include "cli/commands.h"
#include "cli/configuration/configuration.h"
#include "cli/configuration/print.h"
#include "cli/configuration/reader.h"
#include "cli/configuration/settings.h"
#include "cli/configuration/tls.h"
#include "cli/log/log.h"
#include "cli/serve/notify.h"
#include "cli/serve/running_server.h"
#include "cli/serve/serve_cluster.h"
#include "server/server.h"

namespace sibyl::cli {
namespace {

namespace json = boost::json;

struct Arguments {
  std::string config;
  // Flags that stand for settings, with their values.
  std::map<std::string, std::string> flags;
  std::vector<std::string> settings;  // NAME=VALUE
  bool verbose = false;
  TlsFlags tls;
  bool print = false;
  bool list = false;
};

// Threads created later inherit the mask, so that only wait_for_stop() receives these signals.
sigset_t block_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGHUP);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);  // then a write beyond the limit fails with EFBIG
  return signals;
}

void wait_for_stop(const sigset_t& signals, server::Server& server) {
  int signal = 0;
  while (sigwait(&signals, &signal) != 0 || signal == SIGHUP) {
    if (const auto opened = reopen_log(); !opened)
      spdlog::error("{}; the log keeps using the old file", opened.error().text());
    spdlog::info("SIGHUP: reopening the log file and reloading certificates");
    if (const auto reloaded = server.reload_tls(); !reloaded)
      spdlog::error("{}; the previous certificate stays in use", reloaded.error().text());
  }
  spdlog::info("{}: stopping", signal == SIGINT ? "SIGINT" : "SIGTERM");
}

void raise_descriptor_limit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == limit.rlim_max) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

// Data files, the log and the reactors use about two dozen descriptors before the first client connects.
base::Status check_descriptor_limit() {
  constexpr rlim_t min_descriptors = 64;
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= min_descriptors) return {};
  return base::fail(base::Error(base::ErrorCode::config,
                                fmt::format("The limit of open files is {}, and a server needs at least {}",
                                            limit.rlim_cur, min_descriptors))
                        .with_hint("raise it with `ulimit -n`, or LimitNOFILE= of its systemd unit"));
}

// Flags and the settings that they set.
constexpr std::pair<const char*, const char*> flag_settings[] = {
    {"--data", "data_file_directories"},
    {"--cluster", "cluster"},
    {"--ceph", "cluster_ceph_configuration"},
    {"--commitlog-sync", "commitlog_sync"},
    {"--threads", "reactor_threads"},
    {"--connections", "native_transport_max_concurrent_connections"},
    {"--metrics", "metrics_address"},
    {"--memory", "memory"},
    {"--console", "console"},
    {"--authenticator", "authenticator"},
    {"--authorizer", "authorizer"},
};

void read_listen_flag(const std::string& text, Reader& reader) {
  server::Options parsed;
  parsed.host.clear();
  if (const auto status = server::parse_listen_address(text, parsed); !status) {
    reader.refuse("--listen", status.error().text());
    return;
  }
  if (!parsed.host.empty()) reader.set("rpc_address", parsed.host, Origin::flag, "--listen");
  // parse_listen_address() leaves the port unchanged if the text has none. Parsing again with another default
  // shows whether the text has a port.
  server::Options other;
  other.port = static_cast<uint16_t>(server::Options().port + 1);
  (void)server::parse_listen_address(text, other);
  if (other.port == parsed.port)
    reader.set("native_transport_port", std::to_string(parsed.port), Origin::flag, "--listen");
}

void read_flags(const Arguments& arguments, Reader& reader) {
  for (const auto& [flag, setting] : flag_settings)
    if (const auto given = arguments.flags.find(flag); given != arguments.flags.end())
      reader.set(setting, given->second, Origin::flag, flag);
  if (const auto given = arguments.flags.find("--listen"); given != arguments.flags.end())
    read_listen_flag(given->second, reader);
  if (const auto given = arguments.flags.find("--cache"); given != arguments.flags.end())
    reader.set("file_cache_size", given->second + "MiB", Origin::flag, "--cache");
  if (arguments.verbose) reader.set("log_level", "debug", Origin::flag, "--verbose");
  for (const std::string& one : arguments.settings) {
    const size_t equals = one.find('=');
    if (equals == std::string::npos) {
      reader.refuse("--set", fmt::format("'{}' is not NAME=VALUE", one));
    } else {
      reader.set(one.substr(0, equals), one.substr(equals + 1), Origin::flag, "--set");
    }
  }
  read_tls_flags(arguments.tls, reader);
}

// Returns an empty string if there is none.
std::string configuration_file(const Arguments& arguments) {
  const char* named = std::getenv("SIBYL_CONFIG");
  return arguments.config.empty() && named != nullptr ? named : arguments.config;
}

Reader::Result read_configuration(const Arguments& arguments, Reader& reader) {
  if (const std::string file = configuration_file(arguments); !file.empty()) reader.read_file(file);
  reader.read_environment(environ);
  read_flags(arguments, reader);
  return reader.finish();
}

int refuse_configuration(const Reader& reader) {
  for (const Problem& problem : reader.problems()) fmt::print(stderr, "sibyl serve: {}\n", problem.text());
  return exit_refused;
}

void log_start(const Arguments& arguments, const Reader& reader, const Reader::Result& read) {
  const std::string file = configuration_file(arguments);
  spdlog::info("sibyl {} is starting; configuration: {}", SIBYL_VERSION,
               file.empty() ? "defaults, environment and flags" : file);
  for (const auto& [name, where] : read.places) spdlog::debug("{} comes from {}", name, where);
  for (const std::string& warning : reader.warnings()) spdlog::warn("{}", warning);
  if (!reader.ignored().empty())
    spdlog::info("{} Cassandra settings have no meaning in Sibyl and are ignored: {}",
                 reader.ignored().size(), fmt::join(reader.ignored(), ", "));
}

// The settings that the console shows.
json::array settings_with_origins(const Reader::Result& read) {
  json::array all;
  for (const Setting& setting : settings()) {
    const std::string value = setting.is_secret ? "" : setting.text(read.configuration);
    all.push_back({{"name", setting.name},
                   {"section", setting.section},
                   {"value", value},
                   {"secret", setting.is_secret},
                   {"source", origin_text(read, setting)},
                   {"help", setting.help}});
  }
  return all;
}

int exit_status_of(const RunningServer::Failure& failure) {
  if (failure.stage == RunningServer::Stage::database) return exit_refused;
  return failure.error.code() == base::ErrorCode::config ? exit_refused : exit_no_address;
}

int serve(const char* command, Configuration configuration, json::array settings, const sigset_t& signals,
          const WhileServing& while_serving) {
  auto started = RunningServer::start(std::move(configuration), std::move(settings));
  if (!started) return refuse(command, exit_status_of(started.error()), started.error().error);
  RunningServer& running = **started;
  print_line("ready on " + running.server().address());
  notify_service_manager("READY=1");
  {
    const std::shared_ptr<void> work = while_serving ? while_serving(running.server()) : nullptr;
    running.begin_observing();
    wait_for_stop(signals, running.server());
  }
  notify_service_manager("STOPPING=1");
  running.stop();
  spdlog::info("stopped");
  return 0;
}

int run(const Arguments& arguments) {
  Reader reader;
  const Reader::Result read = read_configuration(arguments, reader);
  if (!reader.problems().empty()) return refuse_configuration(reader);
  if (arguments.list) {
    fmt::print("{}", settings_page());
    return 0;
  }
  if (arguments.print) {
    for (const std::string& warning : reader.warnings()) fmt::print(stderr, "sibyl serve: {}\n", warning);
    fmt::print("{}", print_configuration(read));
    return 0;
  }
  return run_server("serve", read, [&] { log_start(arguments, reader, read); }, nullptr);
}

void add_tls_flags(CLI::App& command, TlsFlags& flags) {
  command.add_option("--tls-certificate", flags.certificate,
                     "Encrypt connections with this certificate: PEM, or PKCS12 with its key");
  command.add_option("--tls-key", flags.key, "The certificate's key, if it is in a separate file");
  command.add_option("--tls-ca", flags.authority,
                     "The CA that signs client certificates; certificates that are sent are checked");
  command.add_flag("--tls-optional", flags.optional, "Also accept connections that are not encrypted");
  command.add_flag("--tls-require-client-certificate", flags.require_client_certificate,
                   "Refuse clients without a certificate");
}

}  // namespace

int run_server(const char* command, const Reader::Result& read, const std::function<void()>& announce,
               const WhileServing& while_serving) {
  const sigset_t signals = block_signals();
  if (const auto started = start_log(read.configuration.log); !started)
    return refuse(command, exit_refused, started.error());
  raise_descriptor_limit();
  if (const auto enough = check_descriptor_limit(); !enough)
    return refuse(command, exit_refused, enough.error());
  base::set_memory_limits({static_cast<int64_t>(read.configuration.heap_bytes),
                           static_cast<int64_t>(read.configuration.statement_memory_bytes),
                           static_cast<int64_t>(read.configuration.resident_bytes)});
  announce();
  Configuration configuration = read.configuration;
  configuration.engine.recent_logs = recent_log_lines;
  // A second server on one machine starts without metrics, unless metrics_address is set.
  configuration.server.http_required = read.origins.contains("metrics_address");
  if (!configuration.cluster.storage.empty())
    return serve_cluster(std::move(configuration), settings_with_origins(read), signals);
  return serve(command, std::move(configuration), settings_with_origins(read), signals, while_serving);
}

void add_serve_command(CLI::App& app) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* command = app.add_subcommand("serve", "Serve CQL over the native protocol");
  const auto flag = [&](const char* name, const char* help) {
    return command->add_option_function<std::string>(
        name, [arguments, name](const std::string& value) { arguments->flags[name] = value; }, help);
  };
  command->add_option("--config", arguments->config, "Settings: a sibyl.yaml, or a cassandra.yaml");
  command->add_option("--set", arguments->settings, "NAME=VALUE: any setting (docs/configuration.md)")
      ->allow_extra_args(false);
  command->add_flag("--print-config", arguments->print, "Print the settings and their origins, and exit");
  command->add_flag("--list-settings", arguments->list, "Print the meaning of every setting, and exit");
  flag("--data", "The data directory, created if missing, or :memory: (sibyl-data)");
  flag("--cluster", "Serve the database of a cluster instead: rados:POOL or rados:POOL/NAMESPACE");
  flag("--ceph", "Ceph's configuration file, for --cluster (/etc/ceph/ceph.conf)");
  flag("--listen", "HOST:PORT, HOST or PORT to listen on; port 0 picks a free one (127.0.0.1:9042)");
  flag("--commitlog-sync",
       "group: a write is on disk when it is acknowledged; periodic: shortly afterwards (group)")
      ->check(CLI::IsMember({"group", "periodic"}));
  flag("--metrics", "HOST:PORT for metrics over HTTP, or off (127.0.0.1:9180)");
  flag("--console",
       "The web console at that address: loopback (only if it is a loopback address), on, or off (loopback)")
      ->check(CLI::IsMember({"loopback", "on", "off"}));
  flag("--threads", "Threads that serve connections (cores, at most 4)");
  flag("--connections", "Maximum number of connections (16384)");
  flag("--memory", "Memory that the server may use, such as 2GiB (the machine's memory)");
  flag("--cache", "Cache for blocks of data files, in MiB (an eighth of memory, 32 to 256)");
  add_tls_flags(*command, arguments->tls);
  flag("--authenticator", "How clients log in: AllowAllAuthenticator, PasswordAuthenticator, ...");
  flag("--authorizer", "How permissions are checked: AllowAllAuthorizer, CassandraAuthorizer");
  command->add_flag("--verbose", arguments->verbose, "Log more");
  command->footer(
      "Exit status: 0 stopped by a signal, 2 wrong usage or settings, or the data directory or a certificate "
      "cannot be used, 3 the server cannot listen on the address, 4 another server of the cluster has the "
      "database "
      "now, or its storage does not answer.");
  command->callback([arguments] {
    if (const int status = run(*arguments); status != 0) throw CLI::RuntimeError(status);
  });
}

}  // namespace sibyl::cli
