// Reads a configuration from files, the environment and flags.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "cli/configuration/configuration.h"

namespace sibyl::cli {

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

  // A value and its place.
  struct Given {
    RawValue value;
    Origin origin = Origin::by_default;
    std::string where;
  };
  // Returns the value that a setting has so far; nullptr: none was given.
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

  std::map<std::string, Given, std::less<>> given_;  // values by the setting's current name, not by an alias
  std::vector<Problem> problems_;
  std::vector<std::string> ignored_;
  std::vector<std::string> warnings_;
};

}  // namespace sibyl::cli
