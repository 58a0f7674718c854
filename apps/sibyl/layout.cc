// `sibyl layout`: how a table's partitions lie in the store.
#include "engine/layout.h"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "engine/engine.h"
#include "sibyl/commands.h"
#include "sibyl/refuse.h"
#include "sibyl/session_engine.h"
#include "sibyl/shell_script.h"
#include "sibyl/shell_text.h"

namespace sibyl {
namespace {

constexpr int exit_failed = 1;
constexpr int exit_refused = 2;

struct Arguments {
  std::string table;
  std::optional<std::string> partition;
  std::string data;
  engine::LayoutOptions options;
};

int refuse(int status, const base::Error& error) {
  return sibyl::refuse("layout", status, error);
}

int run(const Arguments& arguments) {
  const std::optional<shell::TableName> name = shell::parse_table_name(arguments.table);
  if (!name)
    return refuse(exit_refused, base::Error(base::ErrorCode::invalid,
                                            fmt::format("'{}' is not KEYSPACE.TABLE", arguments.table)));
  if (!std::filesystem::exists(arguments.data))
    return refuse(exit_refused,
                  base::Error(base::ErrorCode::invalid, fmt::format("there is no data in {}", arguments.data))
                      .with_hint("Name the directory that the server was given with --data."));
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
  CLI::App* command = app.add_subcommand("layout", "Draw how a table's partitions lie on disk");
  command->add_option("table", arguments->table, "KEYSPACE.TABLE")->required();
  command->add_option("partition", arguments->partition,
                      "One partition's key, as CQL literals separated by commas (the first few partitions)");
  command->add_option("--data", arguments->data, "The data directory; no server may be using it")
      ->capture_default_str();
  command->add_option("--rows", arguments->options.max_rows, "The most rows of a partition")
      ->capture_default_str();
  command->add_option("--partitions", arguments->options.max_partitions, "The most partitions")
      ->capture_default_str();
  command->add_option("--width", arguments->options.width,
                      "Of the drawing, in characters (the terminal's, or 100)");
  command->add_flag("--markers", arguments->options.markers, "Show row markers even of rows that have cells");
  command->callback([arguments] {
    if (const int status = run(*arguments); status != 0) throw CLI::RuntimeError(status);
  });
}

}  // namespace sibyl
