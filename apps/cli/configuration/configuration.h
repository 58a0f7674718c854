// The server's configuration, from sibyl.yaml (or a complete cassandra.yaml), the environment and flags, in
// order of increasing precedence. Defaults depend on the machine's memory.
//
// One table of settings (settings()) is used for reading, `sibyl serve --print-config`, system_views.settings
// and docs/configuration.md. Names are Cassandra's where the meaning is the same.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
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
  std::string mode = "loopback";  // "on", "off", or only if metrics_address is a loopback address
  bool read_only = false;
};

// A server of a cluster; the database is on storage that its servers share.
struct ClusterOptions {
  std::string storage;                                // "rados:POOL[/NAMESPACE]"; empty: no cluster
  std::string configuration = "/etc/ceph/ceph.conf";  // of Ceph
  std::string user = "admin";                         // of Ceph: client.USER
  std::string server_name;                            // empty: made of the host's name and the port
};

struct Configuration {
  Configuration();
  engine::Options engine;
  server::Options server;
  LogOptions log;
  ConsoleOptions console;
  ClusterOptions cluster;
  bool tls_enabled = false, tls_optional = false;  // become server.tls.mode
  bool rate_limiting = false;                      // these two become server.limits.requests_per_second
  uint64_t requests_per_second = 1'000'000;
  uint64_t memory_bytes = 0;  // 0: the memory of the machine or its control group
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

struct Setting {
  enum class Type : uint8_t { boolean, integer, size, duration, text, choice, list, address };
  // An older Cassandra name, and the unit of its numbers.
  struct Alias {
    const char* name;
    const char* unit = "";
  };

  const char* name;  // nested names have dots: "client_encryption_options.enabled"
  Type type;
  const char* section;
  std::string help;
  bool is_ours = false;  // not a name of cassandra.yaml
  bool is_secret = false;
  std::vector<Alias> aliases;
  std::string default_note;  // how the default depends on the machine; empty: it does not
  // The value in YAML form; empty: not set.
  std::function<std::string(const Configuration&)> text;
  std::function<base::Status(Configuration&, const RawValue&)> assign;
};

const std::vector<Setting>& settings();
// Adds the guardrails. Only for settings().
void add_guardrails(std::vector<Setting>& list);
const Setting* find_setting(std::string_view name);
const char* to_string(Setting::Type type);

// A problem in a configuration, and its place: "sibyl.yaml:12", "SIBYL_MEMORY", "--memory".
struct Problem {
  std::string where;
  std::string what;
  std::string text() const { return where + ": " + what; }
};

// Collects values and problems. For each setting, keeps the value with the highest precedence.
class Reader {
 public:
  // Reads a file. Names of cassandra.yaml that have no meaning in Sibyl are added to ignored().
  void read_file(const std::string& path);
  void read_yaml(const std::string& text, const std::string& name);
  // Reads SIBYL_<NAME> from a list of "NAME=value" that ends with nullptr.
  void read_environment(const char* const* environment);
  // Sets a value. `where` is its place, such as the flag "--connections".
  void set(std::string_view name, const std::string& value, Origin origin, const std::string& where);

  // A value, and where it was written.
  struct Given {
    RawValue value;
    Origin origin = Origin::by_default;
    std::string where;
  };
  // The value that a setting has so far; nullptr: none was given.
  const Given* given(std::string_view name) const;

  // Adds a problem that the caller has found.
  void refuse(std::string where, std::string what) {
    problems_.push_back({std::move(where), std::move(what)});
  }

  struct Result {
    Configuration configuration;
    std::map<std::string, Origin, std::less<>> origins;  // by setting; missing: by_default
    std::map<std::string, std::string, std::less<>> places;
  };
  // Applies the values, derives sizes from memory, and checks that settings agree. Must be called only once.
  // The caller must check problems() afterwards.
  Result finish();

  const std::vector<Problem>& problems() const { return problems_; }
  const std::vector<std::string>& ignored() const { return ignored_; }
  // Warnings for the operator: environment variables that look like settings but are not, security features
  // of a cassandra.yaml that Sibyl does not have, settings without effect.
  const std::vector<std::string>& warnings() const { return warnings_; }

 private:
  void add_value(std::string_view name, RawValue value, Origin origin, const std::string& where);
  struct Yaml;

  std::map<std::string, Given, std::less<>> given_;  // by the setting's current name, not an alias
  std::vector<Problem> problems_;
  std::vector<std::string> ignored_;
  std::vector<std::string> warnings_;
};

// Checks that settings agree with each other. Adds problems and warnings with their places.
void check_together(const Reader::Result& result, std::vector<Problem>& problems,
                    std::vector<std::string>& warnings);

// --- Flags that stand for more than one setting

// `sibyl serve --tls-…`: set client_encryption_options. Empty or false: not given.
struct TlsFlags {
  std::string certificate, key, authority;
  bool optional = false;
  bool require_client_certificate = false;
};
// A certificate alone turns on encryption of all connections, and overrides the key and the settings of a
// file. With an authority, the certificates that clients send are checked. REQUIRES: everything else has been
// read.
void read_tls_flags(const TlsFlags& flags, Reader& reader);

// --- Values and their units

// Parses "16MiB" or "4096B" into bytes. A bare number has `unit`, or is refused if `unit` is empty.
base::Result<int64_t> parse_size(std::string_view text, std::string_view unit = "");
// Parses "10s", "500ms" or "1h" into microseconds.
base::Result<int64_t> parse_duration(std::string_view text, std::string_view unit = "");
std::string size_text(int64_t bytes);
std::string duration_text(int64_t micros);

// --- Memory

// The memory of the machine or the limit of its control groups, whichever is less.
uint64_t available_memory();
// Derives the sizes that were not given from `memory` and from the given sizes.
void derive_sizes(Reader::Result& result, uint64_t available);

// --- Names

// True for all names of Cassandra 5.0's cassandra.yaml, including older spellings.
bool is_cassandra_name(std::string_view name);
// Returns the known name nearest to a misspelt one, or an empty string.
std::string nearest_name(std::string_view name);
// "unknown setting 'memroy'; did you mean 'memory'?"
std::string unknown_setting_text(std::string_view name);

// --- Output

// The contents of system_views.settings: every setting that has a value. Secrets are hidden.
std::map<std::string, std::string> shown_settings(const Configuration& configuration);
// A complete sibyl.yaml: the given values with their origin, and the defaults as comments.
std::string print_configuration(const Reader::Result& result);
// The tables of docs/configuration.md.
std::string settings_page();

}  // namespace sibyl::cli
