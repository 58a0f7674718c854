#include "cli/cluster/servers_status.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>
#include <map>
#include <utility>

#include "cli/cluster/show.h"

namespace sibyl::cli {
namespace {

namespace json = boost::json;

constexpr std::chrono::seconds status_timeout{30};
constexpr const char* summed[] = {"connections", "requests",       "requests_in_flight",
                                  "errors",      "bytes_received", "bytes_sent",
                                  "commits",     "commit_groups",  "resident_bytes",
                                  "disk_bytes",  "cache_bytes",    "cache_capacity_bytes",
                                  "cache_hits",  "cache_misses",   "running_compactions",
                                  "cpu_seconds", "forwarded",      "pending_compaction_bytes"};

double number_of(const json::object& object, const char* name) {
  const json::value* value = object.if_contains(name);
  return value != nullptr && value->is_number() ? value->to_number<double>() : 0;
}

void add_up(const json::array& servers, json::object& status) {
  std::map<std::string, uint64_t> statements;
  for (const char* name : summed) {
    double sum = 0;
    for (const json::value& server : servers) sum += number_of(server.as_object(), name);
    status[name] = sum;
  }
  for (const json::value& server : servers)
    if (const json::value* kinds = server.as_object().if_contains("statements"))
      for (const auto& [kind, one] : kinds->as_object())
        statements[std::string(kind)] += one.at("count").to_number<uint64_t>();
  json::object& counts = status["statements"].emplace_object();
  for (const auto& [kind, count] : statements) counts[kind] = {{"count", count}};
}

}  // namespace

base::Result<json::object> servers_status(ClusterCalls& calls) {
  SIBYL_ASSIGN(const cluster::State state, calls.read_state());
  std::map<cluster::MemberId, server::ControlArguments> asked;
  for (const cluster::MemberId& member : serving_members(state)) asked[member] = {};
  if (asked.empty()) return base::fail(no_server_runs());
  json::object status{{"tables", json::array()}};
  json::array servers;
  base::Error last = no_server_runs();
  size_t answered = 0;
  for (const auto& [member, answer] : calls.call_all(asked, "status", status_timeout)) {
    json::object server{{"name", member.name}};
    if (answer) {
      ++answered;
      json::object shown = json::parse(*answer).as_object();
      // These sizes cover all shards, whichever server is asked.
      status["tables"] = std::move(shown["tables"]);
      shown.erase("tables");
      for (auto& [name, value] : shown) server[name] = std::move(value);
    } else {
      last = answer.error();
      server["error"] = last.text();
    }
    servers.push_back(std::move(server));
  }
  if (answered == 0) return base::fail(last);
  add_up(servers, status);
  status["servers"] = std::move(servers);
  return status;
}

std::string servers_status_text(const json::object& status) {
  std::string out =
      fmt::format("{:<28} {:>8} {:>11} {:>12} {:>10} {:>8} {:>10} {:>10} {:>10}\n", "server", "version",
                  "connections", "requests", "forwarded", "errors", "processor", "memory", "disk");
  const auto line = [&](std::string_view name, std::string_view version, const json::object& of) {
    out += fmt::format("{:<28} {:>8} {:>11.0f} {:>12.0f} {:>10.0f} {:>8.0f} {:>8.1f} s {:>10} {:>10}\n", name,
                       version, number_of(of, "connections"), number_of(of, "requests"),
                       number_of(of, "forwarded"), number_of(of, "errors"), number_of(of, "cpu_seconds"),
                       bytes_text(number_of(of, "resident_bytes")), bytes_text(number_of(of, "disk_bytes")));
  };
  for (const json::value& entry : status.at("servers").as_array()) {
    const json::object& server = entry.as_object();
    if (const json::value* error = server.if_contains("error"))
      out += fmt::format("{:<28} {}\n", std::string_view(server.at("name").as_string()),
                         std::string_view(error->as_string()));
    else
      line(server.at("name").as_string(), server.at("version").as_string(), server);
  }
  line("all", "", status);
  if (const json::object& kinds = status.at("statements").as_object(); !kinds.empty()) {
    out += fmt::format("\n{:<12} {:>12}\n", "statements", "count");
    for (const auto& [kind, one] : kinds)
      out += fmt::format("{:<12} {:>12.0f}\n", std::string_view(kind), number_of(one.as_object(), "count"));
  }
  if (const json::array& tables = status.at("tables").as_array(); !tables.empty()) {
    out += fmt::format("\n{:>12} {:>14}  table\n", "size", "partitions");
    for (const json::value& table : tables)
      out += fmt::format("{:>12} {:>14.0f}  {}.{}\n", bytes_text(number_of(table.as_object(), "bytes")),
                         number_of(table.as_object(), "partitions"),
                         std::string_view(table.at("keyspace").as_string()),
                         std::string_view(table.at("table").as_string()));
  }
  return out;
}

}  // namespace sibyl::cli
