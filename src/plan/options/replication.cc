#include "plan/options/replication.h"

#include <fmt/format.h>

#include <algorithm>

#include "plan/options/option_text.h"
#include "plan/options/options.h"

namespace sibyl::plan {

using base::ErrorCode;

namespace {

constexpr const char* simple_strategy = "org.apache.cassandra.locator.SimpleStrategy";
constexpr const char* network_strategy = "org.apache.cassandra.locator.NetworkTopologyStrategy";
constexpr const char* replication_factor = "replication_factor";
constexpr int32_t nodes = 1;

base::Result<std::string> strategy_class(const std::string& name) {
  const std::string full =
      name.find('.') == std::string::npos ? "org.apache.cassandra.locator." + name : name;
  if (full == simple_strategy || full == network_strategy) return full;
  if (full == "org.apache.cassandra.locator.LocalStrategy")
    return base::invalid("Unable to use given strategy class: LocalStrategy is reserved for internal use.");
  if (full == "org.apache.cassandra.locator.OldNetworkTopologyStrategy") {
    return config_error(
        "The support for the OldNetworkTopologyStrategy has been removed in C* version 4.0. The keyspace "
        "strategy "
        "should be switch to NetworkTopologyStrategy");
  }
  return config_error(fmt::format("Unable to find replication strategy class '{}'", full));
}

base::Result<int32_t> factor_of(const std::string& text) {
  const size_t slash = text.find('/');
  int32_t factor = 0;
  if (!parse_int32(text.substr(0, slash), factor))
    return config_error(fmt::format("For input string: \"{}\"", text.substr(0, slash)));
  if (slash != std::string::npos) {
    int32_t transient = 0;
    if (!parse_int32(text.substr(slash + 1), transient))
      return config_error(fmt::format("For input string: \"{}\"", text.substr(slash + 1)));
    if (transient != 0) return config_error("Transient replication is not enabled on this node");
  }
  if (factor < 0)
    return config_error(fmt::format("Replication factor must be non-negative, found {}", factor));
  return factor;
}

// Fills in what Cassandra adds before it checks: the factor for all datacenters, and the keyspace's old
// options.
void prepare_network(OptionMap& options, const OptionMap& previous, const std::string& datacenter) {
  const auto before = previous.find(replication_factor);
  if (options.empty()) options[replication_factor] = before == previous.end() ? "1" : before->second;
  std::string factor;
  if (auto given = options.find(replication_factor); given != options.end()) {
    factor = given->second;
    options.erase(given);
    for (const auto& [name, value] : previous)
      if (name != replication_factor) options.emplace(name, value);
  }
  if (!factor.empty() && factor_of(factor)) options.emplace(datacenter, factor);
  std::erase_if(options, [](const auto& option) { return option.second == "0"; });
}

std::string simple_name(const std::string& full) {
  return full.substr(full.rfind('.') + 1);
}

}  // namespace

base::Result<OptionMap> read_replication(const std::string& keyspace, const OptionMap& given,
                                         const OptionMap& previous, const std::string& datacenter,
                                         std::vector<std::string>& warnings) {
  OptionMap options = given;
  OptionMap before = previous;
  before.erase("class");
  SIBYL_ASSIGN(std::string full_name, strategy_class(options["class"]));
  options.erase("class");

  const bool is_network = full_name == network_strategy;
  if (is_network) {
    prepare_network(options, before, datacenter);
  } else {
    const auto old_factor = before.find(replication_factor);
    options.emplace(replication_factor, old_factor == before.end() ? "1" : old_factor->second);
  }
  if (is_network && options.empty())
    return config_error("Configuration for at least one datacenter must be present");
  const std::string expected = is_network ? datacenter : replication_factor;
  for (const auto& [name, value] : options) {
    if (name != expected)
      return config_error(fmt::format("Unrecognized strategy option {{{}}} passed to {} for keyspace {}",
                                      name, simple_name(full_name), keyspace));
  }
  SIBYL_ASSIGN(const int32_t factor, factor_of(options.at(expected)));
  if (factor > nodes) {
    warnings.push_back(fmt::format(
        "Your replication factor {} for keyspace {} is higher than the number of nodes {}{}", factor,
        keyspace, nodes, is_network ? fmt::format(" for datacenter {}", datacenter) : ""));
  }
  options["class"] = full_name;
  return options;
}

}  // namespace sibyl::plan
