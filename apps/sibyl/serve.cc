// `sibyl serve`: a server on a data directory.
//
// Standard output carries one line, "ready on HOST:PORT", once the server answers; the log goes to standard
// error. SIGHUP reads certificates again. SIGTERM and SIGINT stop it: what is in flight is answered, memory
// tables are flushed, and the exit status is 0. A directory that cannot be opened exits with 2, an address
// that cannot be listened on with 3.
#include <fmt/format.h>
#include <malloc.h>
#include <pthread.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>
#include <sys/resource.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <fstream>
#include <memory>
#include <string>

#include "engine/engine.h"
#include "server/control.h"
#include "server/server.h"
#include "sibyl/commands.h"
#include "sibyl/notify.h"
#include "sibyl/snapshot.h"
#include "sibyl/tls_flags.h"

namespace sibyl {
namespace {

constexpr int exit_no_data = 2;
constexpr int exit_no_address = 3;
constexpr std::chrono::milliseconds drain_patience{5'000};

struct Arguments {
  std::string data = default_data_directory;
  std::string listen = "127.0.0.1:9042";
  std::string sync = "group";
  unsigned threads = 0;
  size_t connections = server::Limits{}.connections;
  uint64_t cache_megabytes = 0;  // 0: by the machine's memory
  std::string authenticator = "AllowAllAuthenticator";
  std::string authorizer = "AllowAllAuthorizer";
  bool verbose = false;
  TlsFlags tls;
};

// Threads made later inherit the mask, so that only wait_for_stop() ever sees these signals.
sigset_t block_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGHUP);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
  return signals;
}

void wait_for_stop(const sigset_t& signals, server::Server& server) {
  int signal = 0;
  while (sigwait(&signals, &signal) != 0 || signal == SIGHUP) {
    if (const auto reloaded = server.reload_tls(); !reloaded)
      spdlog::error("{}; the certificate from before stays in use", reloaded.error().text());
  }
  spdlog::info("{}: stopping", signal == SIGINT ? "SIGINT" : "SIGTERM");
}

void raise_descriptor_limit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == limit.rlim_max) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

// Large buffers go back to the system when they are freed: those of clients that read slowly are of many sizes
// and lifetimes, and left in the heap they would add up to several times of what is in use.
void return_large_buffers() {
  mallopt(M_MMAP_THRESHOLD, 256 << 10);
}

// An eighth of what this process may use, within bounds. It is taken as blocks are read, not at the start.
uint64_t default_cache_bytes() {
  constexpr uint64_t least = 32u << 20, most = 256u << 20;
  uint64_t memory =
      static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  uint64_t group_limit = 0;
  if (std::ifstream file("/sys/fs/cgroup/memory.max"); file >> group_limit)
    memory = std::min(memory, group_limit);
  return std::clamp(memory / 8, least, most);
}

void start_log(const Arguments& arguments) {
  auto log = spdlog::stderr_color_mt("sibyl");
  log->set_pattern("%Y-%m-%d %H:%M:%S.%e %^%l%$ %v");
  log->set_level(arguments.verbose ? spdlog::level::debug : spdlog::level::info);
  spdlog::set_default_logger(std::move(log));
}

int refuse(int status, const base::Error& error) {
  fmt::print(stderr, "sibyl serve: {}\n", error.text());
  return status;
}

int serve(const Arguments& arguments) {
  const sigset_t signals = block_signals();
  start_log(arguments);
  raise_descriptor_limit();
  return_large_buffers();

  server::Options options;
  if (const auto parsed = server::parse_listen_address(arguments.listen, options); !parsed)
    return refuse(exit_no_address, parsed.error());
  options.threads = arguments.threads;
  options.limits.connections = arguments.connections;
  arguments.tls.apply(options.tls);

  engine::Options engine_options;
  engine_options.data = arguments.data;
  engine_options.block_cache_bytes =
      arguments.cache_megabytes > 0 ? arguments.cache_megabytes << 20 : default_cache_bytes();
  engine_options.commitlog_sync =
      arguments.sync == "periodic" ? engine::Options::Sync::periodic : engine::Options::Sync::group;
  const auto authenticator = auth::authenticator_by_name(arguments.authenticator);
  if (!authenticator) return refuse(exit_no_data, authenticator.error());
  const auto authorizer = auth::authorizer_by_name(arguments.authorizer);
  if (!authorizer) return refuse(exit_no_data, authorizer.error());
  engine_options.auth = {*authenticator, *authorizer};
  auto engine = engine::Engine::open(engine_options);
  if (!engine) return refuse(exit_no_data, engine.error());

  auto server = server::Server::start(**engine, options);
  if (!server) return refuse(exit_no_address, server.error());
  server::Control control;
  add_snapshot_control(control, **engine, arguments.data);
  if (arguments.data != ":memory:")
    if (const auto listening = control.start(arguments.data); !listening)
      spdlog::error("operators' commands cannot reach this server: {}", listening.error().text());
  fmt::print("ready on {}\n", (*server)->address());
  std::fflush(stdout);
  notify_service_manager("READY=1");
  spdlog::info("serving {} on {}", arguments.data, (*server)->address());

  wait_for_stop(signals, **server);
  notify_service_manager("STOPPING=1");
  control.stop();
  (*server)->stop(drain_patience);
  server->reset();
  if (const auto flushed = (*engine)->flush(); !flushed)
    spdlog::error("flush: {}", flushed.error().message());
  engine->reset();
  spdlog::info("stopped");
  return 0;
}

}  // namespace

void add_serve_command(CLI::App& app) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* command = app.add_subcommand("serve", "Serve CQL over the native protocol");
  command->add_option("--data", arguments->data, "The data directory, created when missing, or :memory:")
      ->capture_default_str();
  command->add_option("--listen", arguments->listen, "HOST:PORT to listen on; port 0 picks a free one")
      ->capture_default_str();
  command
      ->add_option("--commitlog-sync", arguments->sync,
                   "group: a write is on disk when it is acknowledged; periodic: within a moment of it")
      ->check(CLI::IsMember({"group", "periodic"}))
      ->capture_default_str();
  command->add_option("--threads", arguments->threads, "Threads that serve connections (cores, at most 4)");
  command->add_option("--connections", arguments->connections, "The most connections at once")
      ->capture_default_str();
  command->add_option("--cache", arguments->cache_megabytes,
                      "Cache for blocks of data files, in MiB (an eighth of memory, 32 to 256)");
  arguments->tls.add_to(*command);
  command
      ->add_option("--authenticator", arguments->authenticator,
                   "Who may connect: AllowAllAuthenticator, PasswordAuthenticator, ...")
      ->capture_default_str();
  command
      ->add_option("--authorizer", arguments->authorizer,
                   "What they may do: AllowAllAuthorizer, CassandraAuthorizer")
      ->capture_default_str();
  command->add_flag("--verbose", arguments->verbose, "Log more");
  command->callback([arguments] {
    if (const int status = serve(*arguments); status != 0) throw CLI::RuntimeError(status);
  });
}

}  // namespace sibyl
