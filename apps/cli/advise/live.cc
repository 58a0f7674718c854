// `sibyl advise --live`: reads the statistics of a database.
#include "cli/advise/live.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <tuple>

#include "cli/command_line/password.h"
#include "cli/command_line/tls_flags.h"
#include "cli/session/embedded.h"
#include "cli/session/network.h"
#include "cli/session/session.h"
#include "client/connection.h"
#include "cql/parser.h"
#include "cql/script.h"
#include "types/value.h"

namespace sibyl::cli {
namespace {

using advisor::ObservedShape;
using advisor::ObservedTable;

// Returns true for statements of `sibyl export`, which are not part of the workload.
bool is_export(const std::string& text) {
  const auto tree = cql::parse_statement(text);
  const auto* select = tree ? std::get_if<cql::Select>(&(*tree)->node) : nullptr;
  if (select == nullptr || select->where.size() != 2 || select->limit != nullptr || select->allow_filtering)
    return false;
  const auto bounds = [&](size_t i, cql::Operator op) {
    return select->where[i].target == cql::Relation::Target::token && select->where[i].op == op;
  };
  return bounds(0, cql::Operator::greater_or_equal) && bounds(1, cql::Operator::less_or_equal);
}

// A result row, by column name. Null and missing columns are empty.
class Row {
 public:
  Row(const shell::StatementResult& result, const shell::ResultRow& row) : result_(result), row_(row) {}

  std::string text(std::string_view name) const {
    const auto [type, value] = find(name);
    return value != nullptr && *value ? std::string(**value) : std::string();
  }

  std::optional<double> number(std::string_view name) const {
    const auto [type, value] = find(name);
    if (value == nullptr || !*value || (*value)->empty()) return std::nullopt;
    if (type->kind() == types::Kind::double_) return types::decode_double(**value);
    return static_cast<double>(types::decode_integer(type->kind(), **value));
  }
  double count(std::string_view name) const { return std::max(0.0, number(name).value_or(0)); }

  ObservedTable::Quantiles quantiles(const std::string& name) const {
    return {number(name + "_p50"), number(name + "_p99"), number(name + "_max"), number(name + "_p90")};
  }

 private:
  std::pair<types::TypePtr, const std::optional<base::Bytes>*> find(std::string_view name) const {
    for (size_t i = 0; i < result_.columns.size(); ++i)
      if (result_.columns[i].name == name) return {result_.columns[i].type, &row_[i]};
    return {nullptr, nullptr};
  }

  const shell::StatementResult& result_;
  const shell::ResultRow& row_;
};

class Observer {
 public:
  Observer(shell::Session& session, const std::vector<std::string>& wanted, const std::string& source,
           std::vector<std::string>& remarks)
      : session_(session), wanted_(wanted), source_(source), remarks_(remarks) {}

  base::Result<advisor::Observation> run() {
    out_.source = source_;
    SIBYL_TRY(read_time());
    SIBYL_TRY(read_definitions());
    SIBYL_ASSIGN(const bool has_statistics, read_tables());
    if (!has_statistics) {
      remarks_.push_back(fmt::format("{} keeps no statistics: its schema is reviewed without them", source_));
      return std::move(out_);
    }
    SIBYL_TRY(read_hot_partitions());
    SIBYL_TRY(read_shapes());
    read_nodes();
    return std::move(out_);
  }

 private:
  base::Result<shell::StatementResult> ask(const std::string& text) { return session_.execute(text, {}); }

  // Calls `take` for every row.
  template <typename Take>
  base::Status each(const std::string& text, Take take) {
    SIBYL_ASSIGN(const shell::StatementResult result, ask(text));
    for (const shell::ResultRow& row : result.rows) take(Row(result, row));
    return {};
  }

  base::Status read_time() {
    return each("SELECT toTimestamp(now()) AS now FROM system.local",
                [this](const Row& row) { now_ = row.count("now"); });
  }

  // Returns the seconds since a time that the database reports.
  std::optional<double> since(std::optional<double> milliseconds) const {
    if (!milliseconds) return std::nullopt;
    return std::max(0.0, (now_ - *milliseconds) / 1000);
  }

  bool wants(const std::string& keyspace) const { return keyspaces_.contains(keyspace); }

  base::Status read_definitions() {
    std::vector<std::pair<std::string, std::string>> all;
    std::set<std::string> present;
    SIBYL_TRY(each("DESCRIBE SCHEMA", [&](const Row& row) {
      present.insert(row.text("keyspace_name"));
      all.emplace_back(row.text("keyspace_name"), row.text("create_statement"));
    }));
    for (const std::string& wanted : wanted_) {
      if (!present.contains(wanted))
        return base::invalid(fmt::format(
            "there is no keyspace '{}'{}", wanted,
            present.empty() ? "" : fmt::format("; existing keyspaces: {}", fmt::join(present, ", "))));
      keyspaces_.insert(wanted);
    }
    if (wanted_.empty()) keyspaces_ = present;
    if (keyspaces_.empty()) return base::invalid("there is no keyspace to review");
    for (const auto& [keyspace, text] : all) {
      if (!wants(keyspace)) continue;
      for (const cql::ScriptPiece& piece : cql::split_script(text))
        if (piece.text.find_first_not_of(" \t\r\n;") != std::string::npos)
          out_.definitions.push_back(piece.text);
    }
    return {};
  }

  // Reads this node and its peers. A database that does not know its peers has none.
  void read_nodes() {
    size_t peers = 0;
    const base::Status read = each("SELECT peer FROM system.peers", [&](const Row&) { ++peers; });
    if (!read) peers = 0;
    out_.nodes = 1 + peers;
  }

  // Returns false if the server keeps no statistics, like Cassandra.
  base::Result<bool> read_tables() {
    const base::Status read = each("SELECT * FROM system_views.table_statistics", [this](const Row& row) {
      if (!wants(row.text("keyspace_name"))) return;
      ObservedTable table;
      table.keyspace = row.text("keyspace_name");
      table.name = row.text("table_name");
      table.partitions = row.number("partitions");
      table.rows = row.number("rows");
      table.bytes = row.number("bytes");
      table.partition_rows = row.quantiles("partition_rows");
      table.partition_bytes = row.quantiles("partition_bytes");
      table.tombstones = row.quantiles("tombstones_per_read");
      table.reads = row.count("reads");
      table.writes = row.count("writes");
      table.seconds = row.number("counted_seconds");
      if (!table.seconds) table.seconds = since(row.number("since"));
      out_.tables.push_back(std::move(table));
    });
    if (read) return true;
    const bool missing = read.error().code() == base::ErrorCode::invalid;
    if (missing) return false;
    return base::fail(read.error());
  }

  base::Status read_hot_partitions() {
    return each("SELECT * FROM system_views.hot_partitions", [this](const Row& row) {
      if (row.count("rank") != 1 || row.count("count") <= 0) return;
      for (ObservedTable& table : out_.tables) {
        if (table.keyspace != row.text("keyspace_name") || table.name != row.text("table_name")) continue;
        ObservedTable::HotPartition hot{row.text("partition_key"), std::min(1.0, row.count("share"))};
        (row.text("kind") == "read" ? table.hottest_read : table.hottest_write) = std::move(hot);
      }
    });
  }

  base::Status read_shapes() {
    const auto seconds = [](const Row& row, const char* name) -> std::optional<double> {
      const auto microseconds = row.number(name);
      return microseconds ? std::optional(*microseconds / 1e6) : std::nullopt;
    };
    size_t cut = 0;
    SIBYL_TRY(each("SELECT * FROM system_views.query_shapes", [&](const Row& row) {
      if (!wants(row.text("keyspace_name")) || is_export(row.text("query"))) return;
      if (row.text("query").ends_with("…")) {
        ++cut;
        return;
      }
      ObservedShape shape;
      shape.id = row.text("shape");
      shape.text = row.text("query");
      shape.keyspace = row.text("keyspace_name");
      shape.table = row.text("table_name");
      shape.calls = row.count("calls");
      shape.partitions_read = row.count("partitions_read");
      shape.rows_read = row.count("rows_read");
      shape.rows_returned = row.count("rows_returned");
      shape.tombstones_read = row.count("tombstones_read");
      shape.partitions_max = row.number("partitions_max");
      shape.latency_p50 = seconds(row, "latency_p50_us");
      shape.latency_p99 = seconds(row, "latency_p99_us");
      shape.since_first = since(row.number("first_seen")).value_or(0);
      shape.since_last = since(row.number("last_seen")).value_or(0);
      out_.shapes.push_back(std::move(shape));
    }));
    if (cut > 0)
      remarks_.push_back(
          fmt::format("{} statement{} too long to review: only the beginning of the text is kept", cut,
                      cut == 1 ? " is" : "s are"));
    // The oldest shape is first, so that generated names stay the same when new statements are observed.
    std::sort(out_.shapes.begin(), out_.shapes.end(), [](const ObservedShape& a, const ObservedShape& b) {
      return std::tie(a.keyspace, a.table, b.since_first, a.id) <
             std::tie(b.keyspace, b.table, a.since_first, b.id);
    });
    return {};
  }

  shell::Session& session_;
  const std::vector<std::string>& wanted_;
  const std::string& source_;
  std::vector<std::string>& remarks_;
  std::set<std::string> keyspaces_;
  double now_ = 0;  // milliseconds, by the database's clock
  advisor::Observation out_;
};

base::Result<std::unique_ptr<shell::Session>> open(const LiveFlags& flags) {
  std::error_code problem;
  if (std::filesystem::is_directory(flags.place, problem)) {
    if (std::filesystem::is_empty(flags.place, problem))
      return base::invalid(fmt::format("the directory {} is empty", flags.place));
    return shell::open_session(flags.place);
  }
  const std::optional<shell::Address> address = shell::parse_address(flags.place);
  if (!address || flags.place.find('/') != std::string::npos)
    return base::fail(
        base::Error(base::ErrorCode::server,
                    fmt::format("'{}' is neither an address nor a directory", flags.place))
            .with_hint("Write HOST:PORT, such as 127.0.0.1:9042, or a server's data directory."));
  client::Options server = flags.server;
  server.host = address->host;
  server.port = address->port;
  if (!server.user.empty() && !flags.has_password) {
    SIBYL_ASSIGN(server.password, shell::ask_password(server.user));
  }
  return shell::connect_session(server,
                                "Give the server as HOST:PORT, or the data directory of a stopped server.");
}

}  // namespace

void LiveFlags::add_to(CLI::App& command) {
  command.add_option(
      "--live,--host", place,
      "Review a database: HOST[:PORT], or a data directory; files then only declare statistics");
  command
      .add_option("-k,--keyspace", keyspaces,
                  "With --live: review this keyspace; may be repeated; default: all user keyspaces")
      ->take_all()
      ->allow_extra_args(false);
  command.add_option("-u,--user,--username", server.user,
                     "With --live: user name; without -p, the password is prompted for");
  command.add_option("-p,--password", server.password, "The user's password")
      ->each([this](const std::string&) { has_password = true; });
  add_ssl_flags(command, server.tls);
}

base::Result<advisor::Observation> observe(const LiveFlags& flags, std::vector<std::string>& remarks) {
  SIBYL_ASSIGN(const std::unique_ptr<shell::Session> session, open(flags));
  return observe(*session, flags.keyspaces, flags.place, remarks);
}

base::Result<advisor::Observation> observe(shell::Session& session, const std::vector<std::string>& keyspaces,
                                           const std::string& source, std::vector<std::string>& remarks) {
  return Observer(session, keyspaces, source, remarks).run();
}

}  // namespace sibyl::cli
