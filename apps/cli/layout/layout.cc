// `sibyl layout`: shows how the partitions of a table are stored. The server that has the directory open
// draws them, over its control socket (server/http/control.h). If no server has it open, the command opens it
// itself.
#include "cli/layout/layout.h"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <boost/json.hpp>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <system_error>

#include "cli/command_line/refuse.h"
#include "cli/command_line/text.h"
#include "cli/commands.h"
#include "cli/configuration/data_option.h"
#include "cli/session/embedded.h"
#include "cli/shell/script.h"
#include "engine/describe/layout.h"
#include "engine/engine.h"

namespace sibyl::cli {
namespace {

struct Arguments {
  std::string table;
  std::optional<std::string> partition;
  std::string data = default_data_directory;
  engine::LayoutOptions options;
};

int refuse(int status, const base::Error& error) {
  return cli::refuse("layout", status, error);
}

// --- The options of a drawing, as arguments of the control socket.

server::ControlArguments to_control(const shell::TableName& table, const Arguments& arguments) {
  const engine::LayoutOptions& options = arguments.options;
  server::ControlArguments out = {{"keyspace", table.keyspace},
                                  {"table", table.table},
                                  {"partitions", std::to_string(options.max_partitions)},
                                  {"rows", std::to_string(options.max_rows)},
                                  {"width", std::to_string(options.width)},
                                  {"markers", options.markers ? "yes" : "no"}};
  if (arguments.partition) out.emplace("partition", *arguments.partition);
  return out;
}

base::Status read_number(const server::ControlArguments& arguments, const std::string& name, size_t& number) {
  const auto given = arguments.find(name);
  if (given == arguments.end()) return {};
  const std::string& text = given->second;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size())
    return base::invalid(fmt::format("'{}' is not a number of {}", text, name));
  return {};
}

// Returns the drawing as a JSON string.
base::Result<std::string> draw_for_control(engine::Engine& engine,
                                           const server::ControlArguments& arguments) {
  const auto text = [&](const char* name) {
    const auto given = arguments.find(name);
    return given == arguments.end() ? std::optional<std::string>() : given->second;
  };
  engine::LayoutOptions options;
  SIBYL_TRY(read_number(arguments, "partitions", options.max_partitions));
  SIBYL_TRY(read_number(arguments, "rows", options.max_rows));
  SIBYL_TRY(read_number(arguments, "width", options.width));
  options.markers = text("markers") == "yes";
  SIBYL_ASSIGN(const std::string drawing,
               engine::render_layout(engine, text("keyspace").value_or(""), text("table").value_or(""),
                                     text("partition"), options));
  return boost::json::serialize(boost::json::string(drawing));
}

// --- The command.

int print(const std::string& drawing) {
  std::fputs(drawing.c_str(), stdout);
  return 0;
}

int run(const Arguments& arguments) {
  const std::optional<shell::TableName> name = shell::parse_table_name(arguments.table);
  if (!name)
    return refuse(exit_refused, base::Error(base::ErrorCode::invalid,
                                            fmt::format("'{}' is not KEYSPACE.TABLE", arguments.table)));
  if (!std::filesystem::exists(arguments.data))
    return refuse(exit_refused,
                  base::Error(base::ErrorCode::invalid, fmt::format("there is no data in {}", arguments.data))
                      .with_hint("Name a running server with --host, or its data directory with --data."));
  const auto drawn = server::call_control(arguments.data, "layout", to_control(*name, arguments));
  if (drawn) return print(boost::json::parse(*drawn).as_string().c_str());
  if (drawn.error().code() != base::ErrorCode::unavailable) return refuse(exit_failed, drawn.error());
  auto engine = shell::open_engine(arguments.data);
  if (!engine) return refuse(exit_refused, engine.error());
  const auto drawing =
      engine::render_layout(**engine, name->keyspace, name->table, arguments.partition, arguments.options);
  if (!drawing) return refuse(exit_failed, drawing.error());
  return print(*drawing);
}

}  // namespace

void add_layout_control(server::Control& control, engine::Engine& engine) {
  control.add("layout", [&engine](const server::ControlArguments& arguments) {
    return draw_for_control(engine, arguments);
  });
}

void add_layout_command(CLI::App& app) {
  auto arguments = std::make_shared<Arguments>();
  if (isatty(STDOUT_FILENO) != 0) arguments->options.width = shell::terminal_width();
  CLI::App* command = app.add_subcommand("layout", "Draw how the partitions of a table are stored");
  command->add_option("table", arguments->table, "KEYSPACE.TABLE")->required();
  command->add_option("partition", arguments->partition,
                      "Partition key as CQL literals separated by commas (default: the first partitions)");
  add_server_data_options(*command, arguments->data, "The data directory; a server may be using it");
  command->add_option("--rows", arguments->options.max_rows, "Maximum number of rows per partition")
      ->capture_default_str();
  command->add_option("--partitions", arguments->options.max_partitions, "Maximum number of partitions")
      ->capture_default_str();
  command->add_option("--width", arguments->options.width,
                      "Width of the drawing in characters (default: that of the terminal, or 100)");
  command->add_flag("--markers", arguments->options.markers, "Also show the markers of rows that have cells");
  command->callback([arguments] {
    if (const int status = run(*arguments); status != 0) throw CLI::RuntimeError(status);
  });
}

}  // namespace sibyl::cli
