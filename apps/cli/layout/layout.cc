// `sibyl layout`: shows how the partitions of a table are stored.
#include "engine/describe/layout.h"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "cli/command_line/refuse.h"
#include "cli/command_line/text.h"
#include "cli/commands.h"
#include "cli/session/engine.h"
#include "cli/shell/script.h"
#include "engine/engine.h"

namespace sibyl::cli {
namespace {

struct Arguments {
  std::string table;
  std::optional<std::string> partition;
  std::string data;
  engine::LayoutOptions options;
};

int refuse(int status, const base::Error& error) {
  return cli::refuse("layout", status, error);
}

int run(const Arguments& arguments) {
  const std::optional<shell::TableName> name = shell::parse_table_name(arguments.table);
  if (!name)
    return refuse(exit_refused, base::Error(base::ErrorCode::invalid,
                                            fmt::format("'{}' is not KEYSPACE.TABLE", arguments.table)));
  if (!std::filesystem::exists(arguments.data))
    return refuse(exit_refused,
                  base::Error(base::ErrorCode::invalid, fmt::format("there is no data in {}", arguments.data))
                      .with_hint("Name the data directory of the server with --data."));
  auto engine = shell::open_engine(arguments.data);
  if (!engine) return refuse(exit_refused, engine.error());
  const auto drawing =
      engine::render_layout(**engine, name->keyspace, name->table, arguments.partition, arguments.options);
  if (!drawing) return refuse(exit_failed, drawing.error());
  std::fputs(drawing->c_str(), stdout);
  return 0;
}

}  // namespace

void add_layout_command(CLI::App& app) {
  auto arguments = std::make_shared<Arguments>();
  arguments->data = default_data_directory;
  if (isatty(STDOUT_FILENO) != 0) arguments->options.width = shell::terminal_width();
  CLI::App* command = app.add_subcommand("layout", "Draw how the partitions of a table are stored");
  command->add_option("table", arguments->table, "KEYSPACE.TABLE")->required();
  command->add_option("partition", arguments->partition,
                      "Partition key as CQL literals separated by commas (default: the first partitions)");
  command->add_option("--data", arguments->data, "The data directory; must not be in use by a server")
      ->capture_default_str();
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
