#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>

#include "client/connection.h"
#include "script/target.h"

namespace sibyl::script {
namespace {

std::string note_of(const client::Result& result) {
  if (result.kind == client::Result::Kind::set_keyspace) return "KEYSPACE " + result.keyspace;
  if (result.kind != client::Result::Kind::schema_change) return {};
  return describe_change(static_cast<int>(result.change.kind), static_cast<int>(result.change.target),
                         result.change.keyspace, result.change.name);
}

void add_rows(client::Result& result, Outcome& outcome) {
  if (!outcome.has_rows)
    for (const auto& column : result.columns) outcome.columns.push_back({column.name, column.type});
  outcome.has_rows = true;
  client::Row row;
  while (result.next(row)) {
    auto& copy = outcome.rows.emplace_back();
    for (const auto& cell : row) copy.push_back(cell ? std::optional<std::string>(*cell) : std::nullopt);
  }
}

class NetworkTarget final : public Target {
 public:
  explicit NetworkTarget(client::Options options) : options_(std::move(options)) { connect(); }

  Outcome run(const std::string& statement, const Mode& mode) override {
    Outcome outcome;
    client::StatementOptions options;
    options.page_size = mode.page_size;
    options.now_seconds = mode.now_seconds;
    while (true) {
      auto result = ask(statement, mode, options);
      if (!result) {
        outcome = Outcome();
        outcome.error = result.error();
        return outcome;
      }
      add_warnings(result->warnings, outcome);
      outcome.note = note_of(*result);
      if (result->kind != client::Result::Kind::rows) return outcome;
      add_rows(*result, outcome);
      if (!result->paging_state) return outcome;
      outcome.page_ends.push_back(outcome.rows.size());
      options.paging_state = result->paging_state;
    }
  }

  // The server keeps running. Only the connection can be restarted from here.
  void restart() override { connect(); }

 private:
  base::Result<client::Result> ask(const std::string& statement, const Mode& mode,
                                   const client::StatementOptions& options) {
    if (!mode.prepared && mode.values.empty()) return connection_->query(statement, {}, options);
    SIBYL_ASSIGN(auto prepared, connection_->prepare(statement));
    return connection_->execute(prepared, views_of(mode.values), options);
  }

  void connect() {
    auto connection = client::Connection::connect(options_);
    if (!connection) {
      std::fprintf(stderr, "cannot connect: %s\n", connection.error().text().c_str());
      std::exit(2);
    }
    connection_ = std::move(*connection);
  }

  client::Options options_;
  std::unique_ptr<client::Connection> connection_;
};

}  // namespace

std::unique_ptr<Target> network_target(const std::string& host_and_port) {
  client::Options options;
  options.version = protocol::Version::v5;
  const size_t colon = host_and_port.rfind(':');
  options.host = host_and_port.substr(0, colon);
  if (colon != std::string::npos)
    options.port = static_cast<uint16_t>(std::stoi(host_and_port.substr(colon + 1)));
  return std::make_unique<NetworkTarget>(std::move(options));
}

}  // namespace sibyl::script
