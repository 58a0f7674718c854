// `sibyl recover`: saves the intact data of a damaged data directory into a new one. Never runs
// automatically.
#include "cli/operate/recover.h"

#include "cli/commands.h"
#include "engine/maintenance/recover.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <string>

#include "cli/command_line/refuse.h"
#include "cli/configuration/data_option.h"
#include "cli/operate/owner.h"

namespace sibyl::cli {
namespace {

struct RecoverArguments {
  std::string data = default_data_directory;
  std::string to;
};

void print_list(const char* title, const std::vector<std::string>& lines) {
  if (!lines.empty()) fmt::print("{}:\n", title);
  for (const std::string& line : lines) fmt::print("  {}\n", line);
}

int run(RecoverArguments arguments) {
  if (arguments.to.empty()) {
    while (arguments.data.size() > 1 && arguments.data.ends_with('/')) arguments.data.pop_back();
    arguments.to = arguments.data + ".recovered";
  }
  const auto recovery = engine::recover(arguments.data, arguments.to);
  if (!recovery)
    return refuse("recover", recovery.error().code() == base::ErrorCode::invalid ? exit_refused : exit_failed,
                  recovery.error());
  if (const auto given = give_to_owner_of(arguments.data, arguments.to); !given)
    return refuse("recover", exit_failed, given.error());
  fmt::print("read {} data files with {} records, and {} groups of {} segments of the commit log\n",
             recovery->data_files, recovery->records, recovery->log_groups, recovery->log_segments);
  print_list("lost", recovery->losses);
  print_list("tables affected", recovery->affected_tables);
  print_list("not certain", recovery->doubts);
  fmt::print("{} in {}; {} is unchanged\nserve it with: sibyl serve --data {}\n",
             recovery->is_complete() ? "everything is" : "the intact data is", arguments.to, arguments.data,
             arguments.to);
  return recovery->is_complete() ? 0 : exit_incomplete;
}

}  // namespace

void add_recover_command(CLI::App& app) {
  auto arguments = std::make_shared<RecoverArguments>();
  CLI::App* command = app.add_subcommand(
      "recover", "Save the intact data of a damaged data directory into a new one, and report what is lost");
  add_data_option(*command, arguments->data, "The damaged data directory, which is not changed");
  command->add_option("--to", arguments->to,
                      "The new data directory (default: the name of --data plus .recovered)");
  command->footer(
      "Exit status: 0 everything was intact, 1 failed, 2 wrong usage or nothing to recover, 3 something is "
      "lost or not certain.");
  command->callback([arguments] {
    if (const int status = run(*arguments); status != 0) throw CLI::RuntimeError(status);
  });
}

}  // namespace sibyl::cli
