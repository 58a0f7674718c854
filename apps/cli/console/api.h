// Types that the endpoints of the console's JSON API share. docs/console-api.md describes them.
//
// An endpoint is a function of a Call. It runs on a thread of Workers and may block. Its result becomes the
// body of the response. Errors keep their code, hint and position.
#pragma once

#include <boost/json.hpp>
#include <functional>
#include <string>
#include <string_view>

#include "cli/console/running.h"
#include "cli/console/sessions.h"
#include "engine/engine.h"
#include "server/http/message.h"

namespace sibyl::cli::console {

namespace json = boost::json;

struct Settings {
  bool read_only = false;
  std::string data = ":memory:";
  json::array settings;  // name, value, source
  // The state of the cluster; empty on a server that is not in a cluster. Blocks.
  std::function<base::Result<json::object>()> show_cluster = {};

  // A server in memory or in a cluster has no data directory of its own.
  bool has_directory() const { return data != ":memory:" && !show_cluster; }
};

// The request and the parts of the server that an endpoint uses.
struct Call {
  engine::Engine& engine;
  const Settings& settings;
  RunningStatements& running;
  const ConsoleSession& session;
  const server::HttpRequest& request;
  const json::object& body;  // body of a POST; otherwise empty

  const auth::Login* login() const { return session.login; }
  // A parameter of the query part of the address, decoded; empty if missing.
  std::string parameter(std::string_view name) const;
  // A member of the body; empty if missing or not a text.
  std::string text(std::string_view name) const;
};
using Answer = base::Result<json::value>;

// {"error": {"code": …, "name": …, "message": …, "hint": …, "position": {…}}}. Positions become byte offsets,
// less `shift`.
json::object error_json(const base::Error& error, size_t shift = 0);

}  // namespace sibyl::cli::console
