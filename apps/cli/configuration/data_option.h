// Options of commands that work on a server's directory: how to name the directory, its server, or a cluster.
#pragma once

#include <string>

#include "cli/configuration/configuration.h"
#include "client/connection.h"

namespace CLI {
class App;
}

namespace sibyl::cli {

// Adds --data and --config. Without --data, the directory is the one that a server would use with that
// configuration file (or SIBYL_CONFIG) and the environment. An invalid configuration ends the command with
// exit status 2. `data` is set before the command's callback runs, and must outlive it.
void add_data_option(CLI::App& command, std::string& data, const char* help);

// A server given by address, with the user's login.
struct ServerFlags {
  std::string address;
  client::Options server;
  bool has_password = false;
};
// Sets the server's address, and asks for the password of a user who has none. Fails if the address is malformed.
base::Status complete(ServerFlags& flags);

// Like add_data_option(), and adds --host and the options of a login. With --host, the directory is the one of that running server,
// which must be on this machine. If it is not, the command ends with exit status 2.
void add_server_data_options(CLI::App& command, std::string& data, const char* help);

// The place of the database that a command uses.
struct DatabasePlace {
  std::string data;        // a directory
  ClusterOptions cluster;  // if its storage is not empty, the database is there
  bool is_cluster() const { return !cluster.storage.empty(); }
};
// Like add_server_data_options(), for commands that also work on clusters: adds --cluster and --ceph, and --user is also the user of
// Ceph. Without these, --host and --data, the configuration tells where the database is.
void add_database_options(CLI::App& command, DatabasePlace& place, const char* help);

}  // namespace sibyl::cli
