#include "cli/console/warnings.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/console/statements.h"

namespace sibyl::cli::console {
namespace {

constexpr double large_partition_bytes = 100e6;  // the advisor's target
constexpr double many_tombstones = 1000;         // Cassandra's tombstone_warn_threshold
constexpr double hot_share = 0.3, min_requests = 1000;
constexpr double low_disk_share = 0.1;

double number(const json::object& object, std::string_view name) {
  const json::value* value = object.if_contains(name);
  return value != nullptr && value->is_number() ? value->to_number<double>() : 0;
}

std::string text(const json::object& object, std::string_view name) {
  const json::value* value = object.if_contains(name);
  return value != nullptr && value->is_string() ? std::string(value->get_string()) : std::string();
}

class Warnings {
 public:
  explicit Warnings(engine::Engine& engine) : engine_(engine) {}

  void add(const char* severity, std::string what, std::string keyspace = {}, std::string table = {}) {
    found_.push_back({{"severity", severity},
                      {"text", std::move(what)},
                      {"keyspace", std::move(keyspace)},
                      {"table", std::move(table)}});
  }

  void look_at_server(const json::object& now) {
    const double total = number(now, "disk_total_bytes"), free = number(now, "disk_free_bytes");
    if (total > 0 && free < low_disk_share * total)
      add("error", fmt::format("Only {:.0f}% of the disk is free", 100 * free / total));
    if (const double failed = number(now, "background_errors"); failed > 0)
      add("error", fmt::format("{:.0f} flushes or compactions failed; the log has the reasons", failed));
    if (const double refused = number(now, "overloaded_last_minute"); refused > 0)
      add("error", fmt::format("Overload: {:.0f} requests were refused within the last minute", refused));
    if (const double late = number(now, "timed_out_last_minute"); late > 0)
      add("warning", fmt::format("{:.0f} requests timed out within the last minute", late));
    if (const double refused = number(now, "connections_refused_last_minute"); refused > 0)
      add("warning",
          fmt::format("{:.0f} connections were refused within the last minute: too many are open", refused));
  }

  void look_at_tables() {
    const auto tables =
        select_objects(engine_, nullptr,
                       "SELECT keyspace_name, table_name, partition_bytes_max, tombstones_per_read_p99 FROM "
                       "system_views.table_statistics");
    if (!tables) return;
    for (const json::value& row : *tables) {
      const json::object& table = row.as_object();
      const std::string keyspace = text(table, "keyspace_name"), name = text(table, "table_name");
      if (const double bytes = number(table, "partition_bytes_max"); bytes > large_partition_bytes)
        add("warning", fmt::format("The largest partition has {:.0f} MB", bytes / 1e6), keyspace, name);
      if (const double dead = number(table, "tombstones_per_read_p99"); dead > many_tombstones)
        add("warning", fmt::format("Reads meet {:.0f} tombstones (p99)", dead), keyspace, name);
    }
  }

  void look_at_hot_partitions() {
    const auto partitions =
        select_objects(engine_, nullptr,
                       "SELECT keyspace_name, table_name, kind, rank, partition_key, count, share FROM "
                       "system_views.hot_partitions");
    if (!partitions) return;
    for (const json::value& row : *partitions) {
      const json::object& hot = row.as_object();
      if (number(hot, "rank") != 1 || number(hot, "count") < min_requests || number(hot, "share") < hot_share)
        continue;
      add("warning",
          fmt::format("One partition, {}, gets {:.0f}% of all {}s", text(hot, "partition_key"),
                      100 * number(hot, "share"), text(hot, "kind")),
          text(hot, "keyspace_name"), text(hot, "table_name"));
    }
  }

  json::array take() { return std::move(found_); }

 private:
  engine::Engine& engine_;
  json::array found_;
};

}  // namespace

json::array find_warnings(engine::Engine& engine, const json::object& now) {
  Warnings warnings(engine);
  warnings.look_at_server(now);
  warnings.look_at_tables();
  warnings.look_at_hot_partitions();
  return warnings.take();
}

json::array readable_warnings(const Call& call, json::array warnings) {
  json::array readable;
  for (json::value& warning : warnings) {
    const json::object& one = warning.as_object();
    const std::string table = text(one, "table");
    if (table.empty() || may_select(call.engine, call.login(), text(one, "keyspace"), table))
      readable.push_back(std::move(warning));
  }
  return readable;
}

}  // namespace sibyl::cli::console
