// The binary's commands. Each lives in a file of its own, adds itself to the command line, and when chosen
// runs in its callback; a status other than 0 leaves it as CLI::RuntimeError.
#pragma once

namespace CLI {
class App;
}

namespace sibyl {

inline constexpr const char* default_data_directory = "sibyl-data";
inline constexpr const char* default_metrics_address = "127.0.0.1:9180";

void add_serve_command(CLI::App& app);
void add_bench_command(CLI::App& app);
void add_shell_command(CLI::App& app);
void add_layout_command(CLI::App& app);
void add_advise_command(CLI::App& app);
void add_review_options(CLI::App& advise);  // of `advise` itself: a review of the files it names
void add_snapshot_command(CLI::App& app);
void add_import_command(CLI::App& app);
void add_export_command(CLI::App& app);
void add_status_command(CLI::App& app);
void add_recover_command(CLI::App& app);
void add_maintenance_commands(CLI::App& app);

}  // namespace sibyl
