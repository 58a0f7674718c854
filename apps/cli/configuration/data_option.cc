#include "cli/configuration/data_option.h"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "cli/command_line/password.h"
#include "cli/command_line/refuse.h"
#include "cli/command_line/tls_flags.h"
#include "cli/configuration/reader.h"
#include "cli/configuration/running_server.h"
#include "cli/exit_status.h"
#include "cli/session/session.h"

namespace sibyl::cli {
namespace {

Configuration read_configuration(std::string file, const std::string& command) {
  if (const char* named = std::getenv("SIBYL_CONFIG"); file.empty() && named != nullptr) file = named;
  Reader reader;
  if (!file.empty()) reader.read_file(file);
  reader.read_environment(environ);
  Reader::Result read = reader.finish();
  for (const Problem& problem : reader.problems())
    fmt::print(stderr, "sibyl {}: {}\n", command, problem.text());
  if (!reader.problems().empty()) throw CLI::RuntimeError(exit_refused);
  return std::move(read.configuration);
}

// Everything that names a server. --user has another meaning with --cluster, so its caller adds it.
CLI::Option* add_host_options(CLI::App& command, ServerFlags& flags) {
  CLI::Option* host =
      command.add_option("--host", flags.address, "A running server on this machine: HOST[:PORT]");
  command
      .add_option("-p,--password", flags.server.password,
                  "With --host: the user's password (SIBYL_PASSWORD, or asked for)")
      ->each([&flags](const std::string&) { flags.has_password = true; });
  add_ssl_flags(command, flags.server.tls);
  return host;
}

// Returns the data directory of the server, or ends the command.
std::string directory_of(ServerFlags& flags, const std::string& command) {
  base::Status completed = complete(flags);
  if (!completed) throw CLI::RuntimeError(refuse(command, exit_refused, completed.error()));
  const auto data = find_data_directory(flags.server);
  if (!data) throw CLI::RuntimeError(refuse(command, exit_refused, data.error()));
  return *data;
}

}  // namespace

base::Status complete(ServerFlags& flags) {
  const auto address = shell::parse_address(flags.address);
  if (!address)
    return base::fail(
        base::Error(base::ErrorCode::invalid, fmt::format("'{}' is not an address", flags.address))
            .with_hint("Write HOST or HOST:PORT, such as 127.0.0.1:9042."));
  flags.server.host = address->host;
  flags.server.port = address->port;
  if (flags.server.user.empty() || flags.has_password) return {};
  SIBYL_ASSIGN(flags.server.password, shell::ask_password(flags.server.user));
  return {};
}

void add_data_option(CLI::App& command, std::string& data, const char* help) {
  auto file = std::make_shared<std::string>();
  const CLI::Option* given = command.add_option("--data", data, help)->capture_default_str();
  command.add_option("--config", *file,
                     "The server's configuration, which names the directory (SIBYL_CONFIG)");
  command.parse_complete_callback([file, given, &command, &data] {
    if (given->count() == 0) data = read_configuration(*file, command.get_name()).engine.data;
  });
}

void add_server_data_options(CLI::App& command, std::string& data, const char* help) {
  struct Given {
    std::string file;
    ServerFlags server;
  };
  auto given = std::make_shared<Given>();
  CLI::Option* named = command.add_option("--data", data, help)->capture_default_str();
  command.add_option("--config", given->file,
                     "The server's configuration, which names the directory (SIBYL_CONFIG)");
  CLI::Option* host = add_host_options(command, given->server)->excludes(named);
  command.add_option("-u,--user,--username", given->server.server.user,
                     "With --host: the user name, if the server requires a login");
  command.parse_complete_callback([given, named, host, &command, &data] {
    if (named->count() > 0) return;
    data = host->count() > 0 ? directory_of(given->server, command.get_name())
                             : read_configuration(given->file, command.get_name()).engine.data;
  });
}

void add_database_options(CLI::App& command, DatabasePlace& place, const char* help) {
  struct Given {
    std::string file, user;
    ClusterOptions cluster;
    ServerFlags server;
  };
  auto given = std::make_shared<Given>();
  CLI::Option* data = command.add_option("--data", place.data, help);
  CLI::Option* cluster = command.add_option("--cluster", given->cluster.storage,
                                            "A cluster instead: rados:POOL or rados:POOL/NAMESPACE");
  const CLI::Option* ceph =
      command.add_option("--ceph", given->cluster.configuration, "Ceph's configuration file");
  CLI::Option* host = add_host_options(command, given->server)->excludes(data)->excludes(cluster);
  const CLI::Option* user = command.add_option("-u,--user,--username", given->user,
                                               "With --host: the user name, if the server requires a login. "
                                               "Otherwise the user of Ceph, without client.");
  command.add_option("--config", given->file,
                     "The server's configuration, which names all of these (SIBYL_CONFIG)");
  cluster->excludes(data)->check([](const std::string& text) {
    return text.starts_with("rados:") && text.size() > std::string_view("rados:").size()
               ? std::string()
               : fmt::format("'{}' is not rados:POOL or rados:POOL/NAMESPACE", text);
  });
  command.parse_complete_callback([given, data, cluster, ceph, host, user, &command, &place] {
    if (data->count() > 0) return;
    if (host->count() > 0) {
      given->server.server.user = given->user;
      place.data = directory_of(given->server, command.get_name());
      return;
    }
    Configuration configured = read_configuration(given->file, command.get_name());
    place.data = configured.engine.data;
    place.cluster = configured.cluster;
    if (cluster->count() > 0) place.cluster.storage = given->cluster.storage;
    if (ceph->count() > 0) place.cluster.configuration = given->cluster.configuration;
    if (user->count() > 0) place.cluster.user = given->user;
  });
}

}  // namespace sibyl::cli
