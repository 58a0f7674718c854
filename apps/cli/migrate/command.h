// The command line of `sibyl migrate`.
#pragma once

namespace CLI {
class App;
}

namespace sibyl::cli {

void add_migrate_command(CLI::App& app);

}  // namespace sibyl::cli
