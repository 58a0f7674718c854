// `--data` of commands that work on a server's directory.
#pragma once

#include <string>

namespace CLI {
class App;
}

namespace sibyl {

// Adds --data and --config. Without --data the directory is the one that a server would be told by that file
// (or SIBYL_CONFIG's) and the environment; a configuration that is wrong ends the command with 2. `data`
// holds it when the command's callback runs, and must outlive that.
void add_data_option(CLI::App& command, std::string& data, const char* help);

}  // namespace sibyl
