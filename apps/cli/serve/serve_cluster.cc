#include "cli/serve/serve_cluster.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <time.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <utility>

#include "cli/cluster/storage.h"
#include "cli/command_line/refuse.h"
#include "cli/log/log.h"
#include "cli/serve/cluster_server.h"
#include "cli/serve/notify.h"

namespace sibyl::cli {
namespace {

// A server that cannot hand its shards over in this time ends anyway. The other servers then wait for its
// lease.
constexpr std::chrono::seconds leave_timeout{60};

// Ends the process without running destructors: threads that still answer requests must stop at once.
[[noreturn]] void end_process(const std::string& why) {
  spdlog::critical("this server stops: {}", why);
  spdlog::default_logger()->flush();
  std::_Exit(exit_lost);
}

// Returns the signal, or 0 if none arrived within `time`.
int wait_for_signal(const sigset_t& signals, std::chrono::milliseconds time) {
  const timespec limit{time.count() / 1000, time.count() % 1000 * 1'000'000};
  const int signal = ::sigtimedwait(&signals, nullptr, &limit);
  return signal < 0 ? 0 : signal;
}

void wait_for_stop(const sigset_t& signals, ClusterServer& server) {
  for (;;) {
    const int signal = wait_for_signal(signals, std::chrono::hours(1));
    if (signal == SIGHUP) {
      if (const auto opened = reopen_log(); !opened)
        spdlog::error("{}; the log keeps using the old file", opened.error().text());
      spdlog::info("SIGHUP: reopening the log file and reloading certificates");
      server.reload_tls();
    } else if (signal != 0) {
      spdlog::info("{}: leaving the cluster", signal == SIGINT ? "SIGINT" : "SIGTERM");
      return;
    }
  }
}

// A second signal ends the wait.
bool wait_for_leaving(const sigset_t& signals, const std::atomic<bool>& has_left) {
  const auto deadline = std::chrono::steady_clock::now() + leave_timeout;
  while (!has_left && std::chrono::steady_clock::now() < deadline) {
    const int signal = wait_for_signal(signals, std::chrono::milliseconds(5));
    if (signal == SIGTERM || signal == SIGINT) break;
  }
  return has_left;
}

}  // namespace

int serve_cluster(Configuration configuration, boost::json::array settings, const sigset_t& signals) {
  auto has_left = std::make_shared<std::atomic<bool>>(false);
  ClusterServer::Options options;
  options.connect = [cluster = configuration.cluster] { return connect_to_storage(cluster); };
  options.events.on_serving = [](const std::string& address) { print_line("ready on " + address); };
  options.events.on_lost = [](const std::string& why) { end_process(why); };
  options.events.on_left = [has_left] { *has_left = true; };
  options.settings = std::move(settings);
  options.configuration = std::move(configuration);
  auto server = ClusterServer::prepare(std::move(options));
  if (!server) return refuse("serve", exit_refused, server.error());
  spdlog::info("joining the cluster as {}, for clients at {}", (*server)->name(), (*server)->address());
  print_line("joining as " + (*server)->address());
  (*server)->join();
  notify_service_manager("READY=1");
  wait_for_stop(signals, **server);
  notify_service_manager("STOPPING=1");
  (*server)->leave();
  if (!wait_for_leaving(signals, *has_left)) end_process("it could not hand its database over");
  // The database is closed and nothing is left to write. Closing the connections to the storage in order
  // could take seconds, because they wait for each other's notifications.
  spdlog::info("stopped");
  spdlog::default_logger()->flush();
  std::_Exit(0);
}

}  // namespace sibyl::cli
