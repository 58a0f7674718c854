// The server's configuration, from sibyl.yaml (or a complete cassandra.yaml), the environment and flags, in
// order of increasing precedence. Defaults depend on the machine's memory. reader.h reads it; settings.h has
// the table of settings.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/engine.h"
#include "server/server.h"

namespace sibyl::cli {

struct LogOptions {
  std::string level = "info";
  std::string format = "text";  // or "json"
  std::string file;             // empty: standard error
  uint64_t file_bytes = 32u << 20;
  uint32_t files = 5;
};

struct ConsoleOptions {
  std::string mode = "loopback";  // "on", "off", or "loopback": only if metrics_address is a loopback address
  bool read_only = false;
};

// A server of a cluster; the database is on storage that its servers share.
struct ClusterOptions {
  std::string storage;                                // "rados:POOL[/NAMESPACE]"; empty: no cluster
  std::string configuration = "/etc/ceph/ceph.conf";  // of Ceph
  std::string user = "admin";                         // of Ceph: client.USER
  std::string server_name;                            // empty: made from the host's name and the port
  uint16_t port = 0;                                  // for other servers of the cluster; 0: any free port
};

struct Configuration {
  Configuration();
  engine::Options engine;
  server::Options server;
  LogOptions log;
  ConsoleOptions console;
  ClusterOptions cluster;
  bool tls_enabled = false, tls_optional = false;  // these two become server.tls.mode
  bool rate_limiting = false;                      // these two become server.limits.requests_per_second
  uint64_t requests_per_second = 1'000'000;
  uint64_t memory_bytes = 0;  // 0: derived from the memory of the machine or its control group
  uint64_t statement_memory_bytes = 256u << 20;
  uint64_t heap_bytes = 0;      // limit of allocations; derived from memory
  uint64_t resident_bytes = 0;  // limit of resident memory; derived from memory
};

enum class Origin : uint8_t { by_default, derived, file, environment, flag };

// A value as written: one text or a list.
struct RawValue {
  std::vector<std::string> items;
  bool is_list = false;
  // The unit of a bare number ("MiB", "ms"), for names that imply one; otherwise empty.
  std::string unit;
};

}  // namespace sibyl::cli
