// What `sibyl advise --live` asks a database: its schema, its statistics, the statements that it has run.
#pragma once

#include <string>
#include <vector>

#include "advisor/observation.h"
#include "base/result.h"
#include "client/connection.h"

namespace CLI {
class App;
}

namespace sibyl {

// The flags --live, --keyspace, --user, --password and those of encryption. They must live as long as the
// command.
struct LiveFlags {
  std::string place;  // HOST:PORT or a data directory; empty: files alone
  std::vector<std::string> keyspaces;
  client::Options server;  // but for the address: who logs in, and whether it is encrypted
  bool has_password = false;

  void add_to(CLI::App& command);
};

// `remarks`: what could not be asked, for people.
base::Result<advisor::Observation> observe(const LiveFlags& flags, std::vector<std::string>& remarks);

}  // namespace sibyl
