// The `--data` option of commands that work on a server's directory.
#pragma once

#include <string>

namespace CLI {
class App;
}

namespace sibyl::cli {

// Adds --data and --config. Without --data, the directory is the one that a server would use with that
// configuration file (or SIBYL_CONFIG) and the environment. An invalid configuration ends the command with
// exit status 2. `data` is set before the command's callback runs, and must outlive it.
void add_data_option(CLI::App& command, std::string& data, const char* help);

}  // namespace sibyl::cli
