// `sibyl advise --live`: reads the schema, the statistics and the executed statements of a database.
#pragma once

#include <string>
#include <vector>

#include "advisor/workload/observation.h"
#include "base/result.h"
#include "client/connection.h"

namespace CLI {
class App;
}

namespace sibyl::cli::shell {
class Session;
}

namespace sibyl::cli {

// The flags --live, --keyspace, --user, --password and the TLS flags. Must outlive the command.
struct LiveFlags {
  std::string place;  // HOST:PORT or a data directory; empty: files only
  std::vector<std::string> keyspaces;
  client::Options server;  // credentials and TLS settings; the address is taken from `place`
  bool has_password = false;

  void add_to(CLI::App& command);
};

// Reads the observation. `remarks` receives a message for each part that could not be read.
base::Result<advisor::Observation> observe(const LiveFlags& flags, std::vector<std::string>& remarks);

// Like observe() above, over a session. `keyspaces`: the keyspaces to read; empty: all keyspaces of users.
// `source` names the database in the review.
base::Result<advisor::Observation> observe(shell::Session& session, const std::vector<std::string>& keyspaces,
                                           const std::string& source, std::vector<std::string>& remarks);

}  // namespace sibyl::cli
