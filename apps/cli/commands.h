// Shared by the commands of the binary.
//
// Each command has a function add_X_command() in a folder of its own, which adds the command to the command
// line. The command runs in its callback, which throws CLI::RuntimeError if the exit status is not 0.
#pragma once

namespace sibyl::cli {

inline constexpr const char* default_data_directory = "sibyl-data";
inline constexpr const char* default_metrics_address = "127.0.0.1:9180";

}  // namespace sibyl::cli
