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

#include "cli/configuration/reader.h"
#include "cli/exit_status.h"

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

}  // namespace

void add_data_option(CLI::App& command, std::string& data, const char* help) {
  auto file = std::make_shared<std::string>();
  const CLI::Option* given = command.add_option("--data", data, help)->capture_default_str();
  command.add_option("--config", *file,
                     "The server's configuration, which names the directory (SIBYL_CONFIG)");
  command.parse_complete_callback([file, given, &command, &data] {
    if (given->count() == 0) data = read_configuration(*file, command.get_name()).engine.data;
  });
}

void add_database_options(CLI::App& command, DatabasePlace& place, const char* help) {
  struct Given {
    std::string file;
    ClusterOptions cluster;
  };
  auto given = std::make_shared<Given>();
  const CLI::Option* data = command.add_option("--data", place.data, help);
  CLI::Option* cluster = command.add_option("--cluster", given->cluster.storage,
                                            "A cluster instead: rados:POOL or rados:POOL/NAMESPACE");
  const CLI::Option* ceph =
      command.add_option("--ceph", given->cluster.configuration, "Ceph's configuration file");
  const CLI::Option* user =
      command.add_option("--user", given->cluster.user, "The user of Ceph, without client.");
  command.add_option("--config", given->file,
                     "The server's configuration, which names all of these (SIBYL_CONFIG)");
  cluster->excludes("--data")->check([](const std::string& text) {
    return text.starts_with("rados:") && text.size() > std::string_view("rados:").size()
               ? std::string()
               : fmt::format("'{}' is not rados:POOL or rados:POOL/NAMESPACE", text);
  });
  command.parse_complete_callback([given, data, cluster, ceph, user, &command, &place] {
    if (data->count() > 0) return;
    Configuration configured = read_configuration(given->file, command.get_name());
    place.data = configured.engine.data;
    place.cluster = configured.cluster;
    if (cluster->count() > 0) place.cluster.storage = given->cluster.storage;
    if (ceph->count() > 0) place.cluster.configuration = given->cluster.configuration;
    if (user->count() > 0) place.cluster.user = given->cluster.user;
  });
}

}  // namespace sibyl::cli
