// `sibyl migrate`: copies keyspaces from one server to another, or compares them.
#pragma once

#include <string>
#include <vector>

#include "client/connection.h"

namespace sibyl::cli::migrate {

struct ServerOptions {
  std::string address;     // HOST[:PORT]
  client::Options client;  // login and TLS; the address is above
  bool has_password = false;
};

struct MigrateOptions {
  ServerOptions from, to;
  std::vector<std::string> keyspaces;  // empty: all except the server's own
  std::vector<std::string> tables;     // KEYSPACE.TABLE; empty: all
  std::string consistency = "LOCAL_QUORUM";
  std::string journal;  // empty: named after the two servers
  unsigned jobs = 2;
  unsigned window = 512;
  int page_size = 2000;
  uint64_t max_errors = 1000;
  bool verify = false;       // compare instead of copying
  bool schema_only = false;  // create the schema, copy no data
  bool skip_schema = false;  // the schema exists on the target
  bool restart = false;
  bool quiet = false;
};

// Returns the exit status of the process.
int run_migrate(const MigrateOptions& options);

}  // namespace sibyl::cli::migrate
