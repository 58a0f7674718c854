// An open database with a server, metrics, console and control socket in front of it.
#pragma once

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <expected>
#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "cli/configuration/configuration.h"
#include "cli/console/console.h"
#include "engine/engine.h"
#include "server/http/control.h"
#include "server/server.h"

namespace sibyl::cli {

class RunningServer {
 public:
  enum class Stage : uint8_t { database, server };  // the part that could not be opened or started
  struct Failure {
    Stage stage = Stage::database;
    base::Error error;
  };

  struct Hooks {
    // Called when the database is open, before clients are served.
    std::function<base::Status(engine::Engine&)> on_open;
    // Called first by stop(), if clients were served.
    std::function<void()> on_stop;
    // Called when no client is served any more, before the database is closed, if on_open was called.
    std::function<void()> on_close;
    // The state of the cluster, for the console. Empty: this server is not in a cluster.
    std::function<base::Result<boost::json::object>()> show_cluster;
  };

  // Blocks until the server answers. `settings` are the settings that the console shows.
  static std::expected<std::unique_ptr<RunningServer>, Failure> start(Configuration configuration,
                                                                      boost::json::array settings,
                                                                      Hooks hooks = {});
  // Calls stop().
  ~RunningServer();
  RunningServer(const RunningServer&) = delete;
  RunningServer& operator=(const RunningServer&) = delete;

  engine::Engine& engine() { return *engine_; }
  server::Server& server() { return *server_; }

  // Logs the addresses and unsafe settings, and lets the console sample the server. Called once.
  void begin_observing();
  // Answers the requests in flight, flushes, and closes the database. Idempotent.
  void stop();

 private:
  RunningServer(Configuration configuration, Hooks hooks)
      : configuration_(std::move(configuration)), hooks_(std::move(hooks)) {}
  void make_console(boost::json::array settings);
  void start_control();

  Configuration configuration_;
  const Hooks hooks_;
  bool is_hooked_ = false;  // on_close must still be called
  std::unique_ptr<engine::Engine> engine_;
  std::unique_ptr<console::Console> console_;  // nullptr: off
  std::unique_ptr<server::Server> server_;
  server::Control control_;
};

}  // namespace sibyl::cli
