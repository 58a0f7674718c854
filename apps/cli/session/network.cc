// A session over the network, with any server that speaks the native protocol.
#include "cli/session/network.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <tuple>

#include "cli/session/session.h"
#include "cli/session/statement_error.h"
#include "client/connection.h"
#include "types/identifier.h"

namespace sibyl::cli::shell {
namespace {

using schema::ColumnKind;

ColumnKind kind_of(std::string_view text) {
  if (text == "partition_key") return ColumnKind::partition_key;
  if (text == "clustering") return ColumnKind::clustering;
  return text == "static" ? ColumnKind::static_ : ColumnKind::regular;
}

client::StatementOptions client_options(const StatementOptions& options) {
  client::StatementOptions result;
  result.consistency = static_cast<client::Consistency>(options.consistency);
  result.serial_consistency = static_cast<client::Consistency>(options.serial_consistency);
  result.page_size = options.page_size;
  result.paging_state = options.paging_state;
  result.trace = options.trace;
  return result;
}

StatementResult take_result(client::Result answer) {
  StatementResult result;
  switch (answer.kind) {
    case client::Result::Kind::nothing:
      break;
    case client::Result::Kind::rows:
      result.kind = StatementResult::Kind::rows;
      break;
    case client::Result::Kind::set_keyspace:
      result.kind = StatementResult::Kind::set_keyspace;
      break;
    case client::Result::Kind::schema_change:
      result.kind = StatementResult::Kind::schema_change;
      break;
  }
  for (client::Column& column : answer.columns)
    result.columns.push_back({std::move(column.keyspace), std::move(column.table), std::move(column.name),
                              std::move(column.type)});
  result.rows.reserve(answer.row_count());
  for (client::Row row; answer.next(row);) result.rows.emplace_back(row.begin(), row.end());
  result.paging_state = std::move(answer.paging_state);
  result.keyspace = std::move(answer.keyspace);
  result.warnings = std::move(answer.warnings);
  result.trace_id = std::move(answer.trace_id);
  return result;
}

std::string server_of(const client::Options& options) {
  const bool numeric = options.host.find(':') != std::string::npos;
  return fmt::format(fmt::runtime(numeric ? "[{}]:{}" : "{}:{}"), options.host, options.port);
}

std::string connection_hint(const client::Options& options, const base::Error& error,
                            std::string_view when_unreachable) {
  const bool about_tls = error.message().find("TLS") != std::string::npos;
  if (error.code() == base::ErrorCode::bad_credentials)
    return options.user.empty()
               ? "Name a user with -u; without -p, the password is read from SIBYL_PASSWORD or asked for."
               : "";
  if (about_tls && !options.tls.enabled)
    return "Encrypt the connection with --ssl; --ssl-ca names the authority that signed the server's "
           "certificate.";
  if (about_tls)
    return "--ssl-ca names the authority that signed the server's certificate, --ssl-no-verify accepts any "
           "certificate; without --ssl the connection is not encrypted.";
  return error.code() == base::ErrorCode::server ? std::string(when_unreachable) : "";
}

// A column as listed in the schema tables, with its sort keys.
struct ListedColumn {
  std::string keyspace, table;
  int32_t position = 0;
  TableNames::Column column;
};

class NetworkSession : public Session {
 public:
  NetworkSession(client::Options options, std::string when_unreachable)
      : options_(std::move(options)), when_unreachable_(std::move(when_unreachable)) {
    options_.error_positions = true;
  }

  base::Status connect();
  base::Result<StatementResult> execute(std::string_view text, const StatementOptions& options) override;
  base::Status log_in(const std::string& user, const std::string& password) override;
  std::string place() const override { return "at " + server_of(options_); }
  ServerVersions versions() override;
  const SchemaNames& names() override;

 private:
  // Handles pending events. Reconnects if the server has closed the connection since the last statement.
  base::Status refresh();
  base::Result<StatementResult> ask(std::string_view text, const StatementOptions& options);
  // Returns the rows of a query on system tables as texts. Empty if the query fails.
  std::vector<std::vector<std::string>> ask_texts(std::string_view text);
  void load_names();
  void load_columns(std::string_view table);

  client::Options options_;
  std::string when_unreachable_;
  std::unique_ptr<client::Connection> connection_;
  SchemaNames names_;
  bool names_stale_ = true;
};

base::Status NetworkSession::connect() {
  auto connection = client::Connection::connect(options_);
  if (!connection) return base::fail(connect_error(options_, connection.error(), when_unreachable_));
  connection_ = std::move(*connection);
  names_stale_ = true;
  // If this fails, only the names for completion become outdated.
  std::ignore = connection_->register_events({"SCHEMA_CHANGE"});
  return {};
}

base::Status NetworkSession::refresh() {
  while (connection_ != nullptr && connection_->is_connected()) {
    const auto event = connection_->next_event(std::chrono::milliseconds(0));
    if (!event) break;
    if (!*event) return {};
    names_stale_ = true;
  }
  SIBYL_TRY(connect());
  if (keyspace_.empty()) return {};
  auto used = ask("USE " + types::quote_identifier(keyspace_), {});
  if (used) return {};
  keyspace_.clear();
  return base::fail(used.error());
}

base::Status NetworkSession::log_in(const std::string& user, const std::string& password) {
  NetworkSession other(options_, when_unreachable_);
  other.options_.user = user;
  other.options_.password = password;
  other.keyspace_ = keyspace_;
  SIBYL_TRY(other.refresh());
  options_ = std::move(other.options_);
  connection_ = std::move(other.connection_);
  names_stale_ = true;
  return {};
}

base::Result<StatementResult> NetworkSession::ask(std::string_view text, const StatementOptions& options) {
  auto answer = connection_->query(text, {}, client_options(options));
  if (answer) return take_result(std::move(*answer));
  const base::Error& error = answer.error();
  if (!connection_->is_connected())
    return base::fail(
        base::Error(base::ErrorCode::server, fmt::format("the connection was lost: {}", error.message()))
            .with_hint("The statement may or may not have been executed. The next statement reconnects."));
  return base::fail(error_from_text(error.code(), error.text()));
}

base::Result<StatementResult> NetworkSession::execute(std::string_view text,
                                                      const StatementOptions& options) {
  SIBYL_TRY(refresh());
  SIBYL_ASSIGN(StatementResult result, ask(text, options));
  if (result.kind == StatementResult::Kind::set_keyspace) keyspace_ = result.keyspace;
  if (result.kind == StatementResult::Kind::schema_change) names_stale_ = true;
  return result;
}

std::vector<std::vector<std::string>> NetworkSession::ask_texts(std::string_view text) {
  std::vector<std::vector<std::string>> rows;
  const auto result = ask(text, {});
  if (!result) return rows;
  for (const ResultRow& row : result->rows) {
    std::vector<std::string>& texts = rows.emplace_back();
    for (const std::optional<Bytes>& value : row) texts.push_back(value.value_or(""));
  }
  return rows;
}

ServerVersions NetworkSession::versions() {
  ServerVersions versions{"a server", "?", "?", fmt::format("{}", static_cast<int>(options_.version))};
  if (!refresh()) return versions;
  const auto rows = ask_texts("SELECT cluster_name, release_version, cql_version FROM system.local");
  if (rows.empty() || rows[0].size() != 3) return versions;
  versions.cluster_name = rows[0][0];
  versions.release = rows[0][1];
  versions.cql = rows[0][2];
  return versions;
}

const SchemaNames& NetworkSession::names() {
  if (refresh() && names_stale_) load_names();
  return names_;
}

void NetworkSession::load_names() {
  names_ = {};
  names_stale_ = false;
  for (const auto& row : ask_texts("SELECT keyspace_name FROM system_schema.keyspaces"))
    names_.keyspaces[row[0]];
  for (const auto& row : ask_texts("SELECT keyspace_name, type_name FROM system_schema.types"))
    names_.keyspaces[row[0]].types.push_back(row[1]);
  load_columns("system_schema.columns");
  load_columns("system_virtual_schema.columns");
}

void NetworkSession::load_columns(std::string_view table) {
  std::vector<ListedColumn> listed;
  for (const auto& row : ask_texts(
           fmt::format("SELECT keyspace_name, table_name, column_name, kind, position FROM {}", table))) {
    const auto position =
        row[4].size() == 4 ? static_cast<int32_t>(base::read_big_endian<uint32_t>(row[4])) : -1;
    listed.push_back({row[0], row[1], position, {row[2], kind_of(row[3])}});
  }
  std::sort(listed.begin(), listed.end(), [](const ListedColumn& a, const ListedColumn& b) {
    return std::tie(a.keyspace, a.table, a.column.kind, a.position, a.column.name) <
           std::tie(b.keyspace, b.table, b.column.kind, b.position, b.column.name);
  });
  for (ListedColumn& found : listed)
    names_.keyspaces[found.keyspace].tables[found.table].columns.push_back(std::move(found.column));
}

}  // namespace

base::Error connect_error(const client::Options& options, const base::Error& error,
                          std::string_view when_unreachable) {
  // Errors of the client begin with the server's name, errors of the server do not.
  const std::string client_prefix = fmt::format("{}:{}: ", options.host, options.port);
  std::string_view why = error.message();
  if (why.starts_with(client_prefix)) why.remove_prefix(client_prefix.size());
  return base::Error(error.code(), fmt::format("cannot connect to {}: {}", server_of(options), why))
      .with_hint(connection_hint(options, error, when_unreachable));
}

base::Result<std::unique_ptr<Session>> connect_session(const client::Options& options,
                                                       std::string_view when_unreachable) {
  auto session = std::make_unique<NetworkSession>(options, std::string(when_unreachable));
  SIBYL_TRY(session->connect());
  return session;
}

}  // namespace sibyl::cli::shell
