#include "cli/console/statements.h"

#include <fmt/format.h>

#include <boost/json.hpp>
#include <future>

#include "types/identifier.h"
#include "types/literals/literal.h"
#include "types/print_value.h"
#include "types/value.h"

namespace sibyl::cli::console {
namespace {

namespace json = boost::json;

bool changes_nothing(const plan::Prepared& plan) {
  return std::holds_alternative<std::shared_ptr<const plan::Select>>(plan.plan) ||
         std::holds_alternative<plan::Use>(plan.plan) || std::holds_alternative<plan::Describe>(plan.plan) ||
         std::holds_alternative<plan::Explain>(plan.plan);
}

// Returns the bytes of the markers' values, which `storage` owns.
base::Result<std::vector<types::ValueView>> bind_values(const plan::Prepared& plan,
                                                        const StatementRequest& request,
                                                        std::vector<base::Bytes>& storage) {
  if (request.values.size() != plan.markers.size())
    return base::invalid(fmt::format("The statement has {} bind markers, and {} values were given",
                                     plan.markers.size(), request.values.size()));
  storage.resize(request.values.size());
  std::vector<types::ValueView> values;
  for (size_t i = 0; i < request.values.size(); ++i) {
    if (!request.values[i]) {
      values.push_back(types::ValueView::null());
      continue;
    }
    const types::Type& type = *plan.markers[i].type;
    if (type.is_collection() || type.kind() >= types::Kind::udt)
      return base::fail(
          base::Error(base::ErrorCode::invalid, fmt::format("{} cannot be bound here", type.cql_name()))
              .with_hint("Write the value into the statement."));
    SIBYL_ASSIGN(storage[i], types::from_string(type, *request.values[i]));
    values.push_back(types::ValueView::of(storage[i]));
  }
  return values;
}

json::value to_json_value(const types::Type& type, base::BytesView bytes) {
  using types::Kind;
  switch (type.kind()) {
    case Kind::boolean:
      return !bytes.empty() && bytes[0] != 0;
    case Kind::double_:
      return bytes.empty() ? json::value() : json::value(types::decode_double(bytes));
    case Kind::tinyint:
    case Kind::smallint:
    case Kind::int_:
    case Kind::bigint:
    case Kind::counter:
    case Kind::timestamp:
      return bytes.empty() ? json::value() : json::value(types::decode_integer(type.kind(), bytes));
    default:
      return json::value(types::to_display(type, bytes));
  }
}

}  // namespace

base::Status StatementControl::check() const {
  if (is_cancelled_) return base::fail(base::ErrorCode::server, "The statement was cancelled");
  if (is_abandoned_ && *is_abandoned_) return base::fail(base::ErrorCode::server, "The client has gone");
  if (std::chrono::steady_clock::now() > deadline_)
    return base::fail(base::Error(base::ErrorCode::read_timeout,
                                  fmt::format("The statement took longer than {} seconds", max_time.count()))
                          .with_hint("Longer statements can be run with `sibyl shell`."));
  return {};
}

base::Result<execute::ResultSet> run_statement(engine::Engine& engine, const auth::Login* login,
                                               const StatementRequest& request) {
  const StatementControl time_limit;
  SIBYL_ASSIGN(const plan::PreparedPtr plan,
               engine.planner().plan_query(request.text, request.keyspace, request.trace));
  if (request.read_only && !changes_nothing(*plan))
    return base::fail(base::ErrorCode::unauthorized, "This console is read-only (console_read_only)");
  std::vector<base::Bytes> storage;
  SIBYL_ASSIGN(const std::vector<types::ValueView> values, bind_values(*plan, request, storage));
  execute::Request options;
  options.values = values;
  options.trace = request.trace;
  options.page_size = request.page_size;
  options.paging_state = request.paging_state;
  options.consistency = request.consistency;
  options.serial_consistency = request.serial_consistency;
  options.interrupt = request.control != nullptr ? request.control : &time_limit;
  std::promise<base::Result<execute::ResultSet>> promise;
  engine.executor().execute_as(login, plan, options, [&promise](base::Result<execute::ResultSet> set) {
    promise.set_value(std::move(set));
  });
  base::Result<execute::ResultSet> result = promise.get_future().get();
  if (request.trace != nullptr) {
    request.trace->stop();
    engine.traces().publish(*request.trace);
  }
  return result;
}

// EXPLAIN needs the permissions of the statement that it explains, and reads nothing.
bool may_select(engine::Engine& engine, const auth::Login* login, std::string_view keyspace,
                std::string_view table) {
  if (login == nullptr) return true;
  StatementRequest request;
  request.text = fmt::format("EXPLAIN SELECT * FROM {}.{}", types::quote_identifier(keyspace),
                             types::quote_identifier(table));
  return run_statement(engine, login, request).has_value();
}

std::vector<Row> rows_of(const execute::ResultSet& result) {
  std::vector<Row> rows(result.rows.count());
  base::BytesView bytes = result.rows.bytes();
  for (Row& row : rows) {
    row.resize(result.metadata->columns.size());
    for (std::optional<base::BytesView>& value : row) {
      const auto length = static_cast<int32_t>(base::read_big_endian<uint32_t>(bytes));
      bytes.remove_prefix(4);
      if (length < 0) continue;
      value = bytes.substr(0, static_cast<size_t>(length));
      bytes.remove_prefix(static_cast<size_t>(length));
    }
  }
  return rows;
}

base::Result<json::array> select_objects(engine::Engine& engine, const auth::Login* login,
                                         const std::string& text) {
  StatementRequest request;
  request.text = text;
  SIBYL_ASSIGN(const execute::ResultSet result, run_statement(engine, login, request));
  json::array objects;
  for (const Row& row : rows_of(result)) {
    json::object& object = objects.emplace_back(json::object()).as_object();
    for (size_t i = 0; i < row.size(); ++i) {
      const plan::ColumnSpec& column = result.metadata->columns[i];
      object[column.name] = row[i] ? to_json_value(*column.type, *row[i]) : json::value();
    }
  }
  return objects;
}

}  // namespace sibyl::cli::console
