// The `--data` option of commands that work on a server's directory.
#pragma once

#include <string>

#include "cli/configuration/configuration.h"

namespace CLI {
class App;
}

namespace sibyl::cli {

// Adds --data and --config. Without --data, the directory is the one that a server would use with that
// configuration file (or SIBYL_CONFIG) and the environment. An invalid configuration ends the command with
// exit status 2. `data` is set before the command's callback runs, and must outlive it.
void add_data_option(CLI::App& command, std::string& data, const char* help);

// The place of the database that a command uses.
struct DatabasePlace {
  std::string data;        // a directory
  ClusterOptions cluster;  // if its storage is not empty, the database is there
  bool is_cluster() const { return !cluster.storage.empty(); }
};
// Like add_data_option(), for commands that also work on clusters: adds --cluster, --ceph and --user. Without
// these and --data, the configuration tells where the database is.
void add_database_options(CLI::App& command, DatabasePlace& place, const char* help);

}  // namespace sibyl::cli
