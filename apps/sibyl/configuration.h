// What a server is told: sibyl.yaml (or a whole cassandra.yaml), the environment and flags, in that order of
// growing precedence, over defaults that follow from the machine's memory.
//
// One table of settings (settings()) drives reading, `sibyl serve --print-config`, system_views.settings and
// docs/configuration.md. Names are Cassandra's where the meaning is the same.
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

namespace sibyl {

struct LogOptions {
  std::string level = "info";
  std::string format = "text";  // or "json"
  std::string file;             // empty: standard error
  uint64_t file_bytes = 32u << 20;
  uint32_t files = 5;
};

struct Configuration {
  Configuration();
  engine::Options engine;
  server::Options server;
  LogOptions log;
  bool tls_enabled = false, tls_optional = false;  // become server.tls.mode
  bool rate_limiting = false;                      // these two become server.limits.requests_per_second
  uint64_t requests_per_second = 1'000'000;
  uint64_t memory_bytes = 0;  // 0: what the machine or its control group has
  uint64_t statement_memory_bytes = 256u << 20;
  uint64_t heap_bytes = 0;  // what may be allocated; follows from memory
};

enum class Origin : uint8_t { by_default, derived, file, environment, flag };

// A value as it was written: one text, or a list of them.
struct RawValue {
  std::vector<std::string> items;
  bool is_list = false;
  // The unit of a bare number ("MiB", "ms"), for names that carry it; else empty.
  std::string unit;
};

struct Setting {
  enum class Type : uint8_t { boolean, integer, size, duration, text, choice, list, address };
  // An older name of Cassandra's, and the unit that its numbers have.
  struct Alias {
    const char* name;
    const char* unit = "";
  };

  const char* name;  // nested ones as "client_encryption_options.enabled"
  Type type;
  const char* section;
  std::string help;
  bool is_ours = false;  // not a name of cassandra.yaml's
  bool is_secret = false;
  std::vector<Alias> aliases;
  std::string default_note;  // how the default follows from the machine, when it does
  // The value as yaml writes it; empty: not set.
  std::function<std::string(const Configuration&)> text;
  std::function<base::Status(Configuration&, const RawValue&)> assign;
};

const std::vector<Setting>& settings();
// Adds those that are guardrails; for settings() alone.
void add_guardrails(std::vector<Setting>& list);
const Setting* find_setting(std::string_view name);
const char* to_string(Setting::Type type);

// What is wrong with a configuration, and where: "sibyl.yaml:12", "SIBYL_MEMORY", "--memory".
struct Problem {
  std::string where;
  std::string what;
  std::string text() const { return where + ": " + what; }
};

// Collects values, keeping the one of the highest precedence for each setting, and every problem met.
class Reader {
 public:
  // A whole file. Names of cassandra.yaml's that mean nothing here are gathered in ignored().
  void read_file(const std::string& path);
  void read_yaml(const std::string& text, const std::string& name);
  // SIBYL_<NAME>, from a list of "NAME=value" that ends with nullptr.
  void read_environment(const char* const* environment);
  // As `flag` on the command line: "--connections".
  void set(std::string_view name, const std::string& value, Origin origin, const std::string& where);

  // A value, and where it was written.
  struct Given {
    RawValue value;
    Origin origin = Origin::by_default;
    std::string where;
  };
  // What a setting was given so far; nullptr: nothing.
  const Given* given(std::string_view name) const;

  // Adds a problem that the caller met.
  void refuse(std::string where, std::string what) {
    problems_.push_back({std::move(where), std::move(what)});
  }

  struct Result {
    Configuration configuration;
    std::map<std::string, Origin, std::less<>> origins;  // by setting; missing: by_default
    std::map<std::string, std::string, std::less<>> places;
  };
  // Applies what was read, derives what follows from memory, and checks that it fits together.
  // REQUIRES: called once; look at problems() afterwards.
  Result finish();

  const std::vector<Problem>& problems() const { return problems_; }
  const std::vector<std::string>& ignored() const { return ignored_; }
  // What an operator should know before relying on the server: environment variables that look like ours and
  // are not, security that a cassandra.yaml asks for and is not done, settings that have no effect.
  const std::vector<std::string>& warnings() const { return warnings_; }

 private:
  void give(std::string_view name, RawValue value, Origin origin, const std::string& where);
  struct Yaml;

  std::map<std::string, Given, std::less<>> given_;  // by the setting's own name
  std::vector<Problem> problems_;
  std::vector<std::string> ignored_;
  std::vector<std::string> warnings_;
};

// Whether settings agree with each other; what does not is refused, or warned of, at its place.
void check_together(const Reader::Result& result, std::vector<Problem>& problems,
                    std::vector<std::string>& warnings);

// --- Flags that are short for more than one setting

// `sibyl serve --tls-…`: of client_encryption_options. What is empty or false was not given.
struct TlsFlags {
  std::string certificate, key, authority;
  bool optional = false;
  bool require_client_certificate = false;
};
// A certificate is enough to encrypt all connections, whatever a file says of the one before. With an
// authority certificates that clients send are checked. REQUIRES: all else was read before.
void read_tls_flags(const TlsFlags& flags, Reader& reader);

// --- Values and their units

// "16MiB", "4096B"; a bare number has `unit`, or is refused when that is empty.
base::Result<int64_t> parse_size(std::string_view text, std::string_view unit = "");
// In microseconds: "10s", "500ms", "1h".
base::Result<int64_t> parse_duration(std::string_view text, std::string_view unit = "");
std::string size_text(int64_t bytes);
std::string duration_text(int64_t micros);

// --- Memory

// The least of what the machine has and its control groups allow.
uint64_t available_memory();
// Sizes that were not given follow from `memory`, and from those that were given.
void derive_sizes(Reader::Result& result, uint64_t available);

// --- Names

// All names that cassandra.yaml of 5.0 knows, older spellings too.
bool is_cassandra_name(std::string_view name);
// The known name that is nearest to a misspelt one, or empty.
std::string nearest_name(std::string_view name);
// "unknown setting 'memroy'; did you mean 'memory'?"
std::string unknown_setting_text(std::string_view name);

// --- Showing

// What system_views.settings shows: every setting that has a value. Secrets are not shown.
std::map<std::string, std::string> shown_settings(const Configuration& configuration);
// sibyl.yaml with everything in it: what is set, with where it comes from; defaults as comments.
std::string print_configuration(const Reader::Result& result);
// The tables of docs/configuration.md.
std::string settings_page();

}  // namespace sibyl
