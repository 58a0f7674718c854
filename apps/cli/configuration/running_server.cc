#include "cli/configuration/running_server.h"

#include <fmt/format.h>

#include <boost/json.hpp>
#include <filesystem>
#include <memory>
#include <system_error>

#include "base/bytes.h"
#include "cli/session/network.h"
#include "client/connection.h"
#include "server/http/control.h"

namespace sibyl::cli {
namespace {

base::Result<std::unique_ptr<client::Connection>> connect(const client::Options& server) {
  auto connection = client::Connection::connect(server);
  if (connection) return connection;
  return base::fail(
      shell::connect_error(server, connection.error(), "Name a running server with --host HOST[:PORT]."));
}

// Returns the value of a query for one column of one row. Empty if there is none.
base::Result<std::string> ask(client::Connection& connection, const std::string& query) {
  SIBYL_ASSIGN(client::Result answer, connection.query(query));
  client::Row row;
  return answer.next(row) ? std::string(row.at(0).value_or("")) : std::string();
}

base::Result<std::string> ask_setting(client::Connection& connection, const std::string& name) {
  return ask(connection, fmt::format("SELECT value FROM system_views.settings WHERE name = '{}'", name));
}

std::string address_of(const client::Options& server) {
  return fmt::format("{}:{}", server.host, server.port);
}

base::Error not_here(const client::Options& server, const std::string& data) {
  return base::Error(base::ErrorCode::invalid,
                     fmt::format("the server at {} uses {}, which no server on this machine has open",
                                 address_of(server), data))
      .with_hint("Run the command on the machine of the server, as root or as the user who runs it.");
}

}  // namespace

base::Result<std::string> ask_setting(const client::Options& server, const std::string& name) {
  SIBYL_ASSIGN(const auto connection, connect(server));
  return ask_setting(*connection, name);
}

base::Result<std::string> find_data_directory(const client::Options& server) {
  SIBYL_ASSIGN(const auto connection, connect(server));
  SIBYL_ASSIGN(std::string data, ask_setting(*connection, "data_file_directories"));
  SIBYL_ASSIGN(const std::string host_id, ask(*connection, "SELECT host_id FROM system.local"));
  if (data.starts_with('[') && data.ends_with(']')) data = data.substr(1, data.size() - 2);
  if (data.empty() || data == ":memory:")
    return base::fail(base::ErrorCode::invalid,
                      fmt::format("the server at {} has no data directory", address_of(server)));
  std::error_code ignored;
  if (!std::filesystem::exists(data, ignored)) return base::fail(not_here(server, data));
  const auto identity = server::call_control(data, "identity");
  if (!identity && identity.error().code() != base::ErrorCode::unavailable)
    return base::fail(identity.error());
  // Another server may use a directory of the same name on this machine.
  if (!identity || boost::json::parse(*identity).as_string() != base::to_hex(host_id))
    return base::fail(not_here(server, data));
  return data;
}

}  // namespace sibyl::cli
