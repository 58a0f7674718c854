#include "cli/serve/running_server.h"

#include <spdlog/spdlog.h>

#include <boost/json.hpp>
#include <chrono>
#include <utility>

#include "base/bytes.h"
#include "cli/console/address.h"
#include "cli/layout/layout.h"
#include "cli/operate/maintenance.h"
#include "cli/operate/snapshot.h"
#include "engine/maintenance/compact.h"

namespace sibyl::cli {
namespace {

constexpr std::chrono::milliseconds drain_timeout{5'000};

// With the default password, anyone who can connect can become superuser.
void warn_of_default_password(engine::Engine& engine) {
  if (engine.authenticator().options().authenticator == auth::Authenticator::allow_all) return;
  if (engine.authenticator().log_in("cassandra", "cassandra"))
    spdlog::warn(
        "the superuser 'cassandra' has its default password: change it with ALTER ROLE, or drop the role "
        "after creating another superuser");
}

void begin_console(console::Console* console, server::Server& server, const Configuration& configuration) {
  const std::string http = server.http_address();
  if (http.empty()) return;
  const bool is_encrypted = configuration.server.http_encrypted;
  const char* scheme = is_encrypted ? "https" : "http";
  spdlog::info("metrics on {}://{}/metrics", scheme, http);
  if (console == nullptr) return;
  console->attach(server.monitor(), {http, is_encrypted});
  spdlog::info("console on {}://{}/", scheme, http);
  if (is_encrypted || console::is_loopback(http)) return;
  const bool has_logins = configuration.engine.auth.authenticator != auth::Authenticator::allow_all;
  spdlog::warn("the console is reachable over the network without encryption: {}",
               has_logins ? "set metrics_encryption, or passwords can be read on the way"
                          : "everyone who can reach it can read and change all data");
}

}  // namespace

std::expected<std::unique_ptr<RunningServer>, RunningServer::Failure> RunningServer::start(
    Configuration configuration, boost::json::array settings, Hooks hooks) {
  std::unique_ptr<RunningServer> running(new RunningServer(std::move(configuration), std::move(hooks)));
  auto engine = engine::Engine::open(running->configuration_.engine);
  if (!engine) return std::unexpected(Failure{Stage::database, std::move(engine.error())});
  running->engine_ = std::move(*engine);
  if (running->hooks_.on_open) {
    running->is_hooked_ = true;
    if (auto prepared = running->hooks_.on_open(*running->engine_); !prepared)
      return std::unexpected(Failure{Stage::database, std::move(prepared.error())});
  }
  running->make_console(std::move(settings));
  running->configuration_.server.http_handler = running->console_.get();
  auto server = server::Server::start(running->engine_->services(), running->configuration_.server);
  if (!server) return std::unexpected(Failure{Stage::server, std::move(server.error())});
  running->server_ = std::move(*server);
  running->start_control();
  return running;
}

RunningServer::~RunningServer() {
  stop();
}

// There is no console if it is off, or if it would be reachable over the network without a setting that asks
// for it.
void RunningServer::make_console(boost::json::array settings) {
  const std::string& mode = configuration_.console.mode;
  const std::string& address = configuration_.server.http_address;
  if (mode == "off" || address.empty()) return;
  if (mode == "loopback" && !console::is_loopback(address)) {
    spdlog::info("the console is off, because {} is not a loopback address; --console on serves it there",
                 address);
    return;
  }
  console_ = std::make_unique<console::Console>(
      *engine_, console::Settings{.read_only = configuration_.console.read_only,
                                  .data = configuration_.engine.data,
                                  .settings = std::move(settings),
                                  .show_cluster = hooks_.show_cluster});
}

// The control socket is in the data directory. Without a directory there is none.
void RunningServer::start_control() {
  const std::string& data = configuration_.engine.data;
  if (data == ":memory:" || configuration_.engine.shared) return;
  control_.add("identity", [this](const server::ControlArguments&) -> base::Result<std::string> {
    return boost::json::serialize(boost::json::string(base::to_hex(engine_->host_id())));
  });
  add_snapshot_control(control_, *engine_, data);
  add_maintenance_control(control_, *engine_);
  add_layout_control(control_, *engine_);
  if (const auto listening = control_.start(data); !listening)
    spdlog::error("cannot open the control socket, so operators' commands cannot reach this server: {}",
                  listening.error().text());
}

void RunningServer::begin_observing() {
  spdlog::info("serving {} on {}", configuration_.engine.data, server_->address());
  warn_of_default_password(*engine_);
  begin_console(console_.get(), *server_, configuration_);
}

void RunningServer::stop() {
  if (!engine_) return;
  if (server_ && hooks_.on_stop) hooks_.on_stop();
  engine::stop_compacting(*engine_);  // the control socket must not wait for an operator's compaction
  control_.stop();
  if (server_) {
    if (console_) console_->detach();
    server_->stop(drain_timeout);
    server_.reset();
  }
  console_.reset();  // the console waits for its requests, which use the engine
  if (is_hooked_ && hooks_.on_close) hooks_.on_close();
  if (const auto flushed = engine_->flush(); !flushed) spdlog::error("flush: {}", flushed.error().message());
  engine_.reset();
}

}  // namespace sibyl::cli
