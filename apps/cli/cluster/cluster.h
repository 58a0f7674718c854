// `sibyl cluster`.
#pragma once

namespace CLI {
class App;
}

namespace sibyl::cli {

void add_cluster_command(CLI::App& app);

}  // namespace sibyl::cli
