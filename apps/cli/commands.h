// The commands of the binary. Each add function adds its command to the command line. The command runs in its
// callback, which throws CLI::RuntimeError if the exit status is not 0.
#pragma once

namespace CLI {
class App;
}

namespace sibyl::cli {

inline constexpr const char* default_data_directory = "sibyl-data";
inline constexpr const char* default_metrics_address = "127.0.0.1:9180";

void add_serve_command(CLI::App& app);
void add_bench_command(CLI::App& app);
void add_shell_command(CLI::App& app);
void add_layout_command(CLI::App& app);
void add_advise_command(CLI::App& app);
void add_review_options(CLI::App& advise);  // options of `advise` without a subcommand, which reviews files
void add_snapshot_command(CLI::App& app);
void add_export_command(CLI::App& app);
void add_status_command(CLI::App& app);
void add_recover_command(CLI::App& app);
void add_maintenance_commands(CLI::App& app);

}  // namespace sibyl::cli
