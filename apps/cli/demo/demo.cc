#include "cli/demo/demo.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "cli/configuration/configuration.h"
#include "cli/configuration/reader.h"
#include "cli/demo/demo_load.h"
#include "cli/exit_status.h"
#include "cli/serve/serve.h"

namespace sibyl::cli {
namespace {

struct Arguments {
  std::string listen = "127.0.0.1:9042";
  std::string console = "127.0.0.1:9180";
};

void announce(const server::Server& server) {
  fmt::print(
      "\n"
      "  Sibyl is running in memory, with examples and a gentle load.\n"
      "\n"
      "    Console   http://{}/\n"
      "    Shell     sibyl shell {}\n"
      "    Try       SELECT * FROM demo.movies WHERE title = 'Stalker' LIMIT 5;\n"
      "    Advisor   http://{}/#/advisor   (demo.readings is modelled badly on purpose)\n"
      "\n"
      "  Ctrl-C ends it, and everything in it is gone.\n\n",
      server.http_address(), server.address(), server.http_address());
  std::fflush(stdout);
}

// Logs warnings only, so that the terminal shows the addresses.
Reader::Result read_configuration(const Arguments& arguments, Reader& reader) {
  server::Options listen;
  if (const auto parsed = server::parse_listen_address(arguments.listen, listen); !parsed)
    reader.refuse("--listen", parsed.error().text());
  reader.set("data_file_directories", ":memory:", Origin::flag, "demo");
  reader.set("rpc_address", listen.host, Origin::flag, "--listen");
  reader.set("native_transport_port", std::to_string(listen.port), Origin::flag, "--listen");
  reader.set("metrics_address", arguments.console, Origin::flag, "--console");
  reader.set("log_level", "warning", Origin::flag, "demo");
  return reader.finish();
}

int run(const Arguments& arguments) {
  Reader reader;
  const Reader::Result read = read_configuration(arguments, reader);
  for (const Problem& problem : reader.problems()) fmt::print(stderr, "sibyl demo: {}\n", problem.text());
  if (!reader.problems().empty()) return exit_refused;
  return run_server(
      "demo", read, [] {},
      [](const server::Server& server) -> std::shared_ptr<void> {
        auto load = demo::Load::start(server.port());
        if (!load)
          fmt::print(stderr, "sibyl demo: the examples could not be loaded: {}\n", load.error().text());
        announce(server);
        return load ? *load : nullptr;
      });
}

}  // namespace

void add_demo_command(CLI::App& app) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* command = app.add_subcommand("demo", "Serve examples from memory, with the web console");
  command->add_option("--listen", arguments->listen, "HOST:PORT or PORT for CQL (127.0.0.1:9042)");
  command->add_option("--metrics,--console", arguments->console, "HOST:PORT of the console (127.0.0.1:9180)");
  command->callback([arguments] {
    if (const int status = run(*arguments); status != 0) throw CLI::RuntimeError(status);
  });
}

}  // namespace sibyl::cli
