#include "engine/system_sources.h"

#include "plan/guardrails.h"

namespace sibyl::engine {

std::map<std::string, std::string> shown_settings(const Options& options, const Node& node) {
  const bool periodic = options.commitlog_sync == Options::Sync::periodic;
  std::map<std::string, std::string> settings = {{"authenticator", to_string(options.auth.authenticator)},
                                                 {"authorizer", to_string(options.auth.authorizer)},
                                                 {"cluster_name", options.cluster_name},
                                                 {"commitlog_sync", periodic ? "periodic" : "group"},
                                                 {"data_file_directories", "[" + options.data + "]"},
                                                 {"endpoint_snitch", "SimpleSnitch"},
                                                 {"native_transport_port", std::to_string(node.port)},
                                                 {"num_tokens", "1"},
                                                 {"partitioner", partitioner_class},
                                                 {"rpc_address", node.address}};
  for (auto& [name, value] : plan::settings_of(options.guardrails)) settings.emplace(name, value);
  for (const auto& [name, value] : options.settings) settings[name] = value;
  // Port 0 has become a real one.
  settings["native_transport_port"] = std::to_string(node.port);
  return settings;
}

}  // namespace sibyl::engine
