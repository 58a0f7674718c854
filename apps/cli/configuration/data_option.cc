#include "cli/configuration/data_option.h"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <memory>

#include "cli/configuration/reader.h"
#include "cli/exit_status.h"

namespace sibyl::cli {
namespace {

std::string configured_data(std::string file, const std::string& command) {
  if (const char* named = std::getenv("SIBYL_CONFIG"); file.empty() && named != nullptr) file = named;
  Reader reader;
  if (!file.empty()) reader.read_file(file);
  reader.read_environment(environ);
  const Reader::Result read = reader.finish();
  for (const Problem& problem : reader.problems())
    fmt::print(stderr, "sibyl {}: {}\n", command, problem.text());
  if (!reader.problems().empty()) throw CLI::RuntimeError(exit_refused);
  return read.configuration.engine.data;
}

}  // namespace

void add_data_option(CLI::App& command, std::string& data, const char* help) {
  auto file = std::make_shared<std::string>();
  const CLI::Option* given = command.add_option("--data", data, help)->capture_default_str();
  command.add_option("--config", *file,
                     "The server's configuration, which names the directory (SIBYL_CONFIG)");
  command.parse_complete_callback([file, given, &command, &data] {
    if (given->count() == 0) data = configured_data(*file, command.get_name());
  });
}

}  // namespace sibyl::cli
