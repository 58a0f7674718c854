#include "server/monitoring/request_log.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>

#include "base/contain.h"
#include "base/log_fields.h"
#include "cql/redact.h"
#include "server/in_flight_request.h"
#include "server/monitoring/request_metrics.h"
#include "server/reactor.h"
#include "types/text.h"

namespace sibyl::server {
namespace {

std::string table_names(const InFlightRequest& request) {
  std::string names;
  const schema::SnapshotPtr schema = request.reactor->shared().engine.schema_source.schema();
  for (const auto& [keyspace_name, keyspace] : schema->keyspaces)
    for (const auto& [name, table] : keyspace->tables)
      if (std::find(request.batch_tables.begin(), request.batch_tables.end(), table->storage_id) !=
          request.batch_tables.end())
        names += fmt::format("{}{}.{}", names.empty() ? "" : ", ", keyspace_name, name);
  return names;
}

std::string statement_text(const InFlightRequest& request) {
  if (request.plan) return cql::without_literals(request.plan->text);
  if (!request.batch_tables.empty()) return "BATCH on " + table_names(request);
  return {};
}

std::string keyspace_of(const InFlightRequest& request) {
  return request.plan ? request.plan->keyspace : std::string();
}

std::string address_of(const engine::Client& client) {
  const bool is_v6 = client.address.find(':') != std::string::npos;
  return fmt::format("{}{}{}:{}", is_v6 ? "[" : "", client.address, is_v6 ? "]" : "", client.port);
}

// Returns the role; empty on servers without logins.
std::string role_of(const InFlightRequest& request) {
  return request.user == nullptr ? std::string() : request.user->role;
}

std::string count_text(uint64_t count) {
  return count == 0 ? std::string() : std::to_string(count);
}

// Makes untrusted text safe to log.
std::string printable(std::string_view text) {
  constexpr size_t max_bytes = 128;
  std::string out(types::whole_characters(text, max_bytes));
  for (char& c : out)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
  return text.size() > max_bytes ? out + "..." : out;
}

// Returns the id of a prepared statement in hexadecimal; empty for other requests.
std::string statement_id(const InFlightRequest& request) {
  std::string hex;
  if (request.is_execute)
    for (const char byte : request.execute.id) hex += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  return hex;
}

}  // namespace

bool is_server_error(base::ErrorCode code) {
  switch (code) {
    case base::ErrorCode::server:
    case base::ErrorCode::truncate:
    case base::ErrorCode::write_timeout:
    case base::ErrorCode::read_timeout:
    case base::ErrorCode::read_failure:
    case base::ErrorCode::write_failure:
    case base::ErrorCode::cas_write_unknown:
      return true;
    default:
      return false;
  }
}

void RequestLog::log_slow_request(const InFlightRequest& request, const engine::Client& client, Time now) {
  const auto suppressed = slow_.admit(now);
  if (!suppressed) return;
  const auto micros = std::chrono::duration_cast<std::chrono::microseconds>(now - request.arrived).count();
  spdlog::warn("{}",
               base::with_fields("slow request",
                                 {{"milliseconds", fmt::format("{:.1f}", static_cast<double>(micros) / 1000)},
                                  {"kind", plan::to_string(kind_of(request))},
                                  {"statement", statement_text(request)},
                                  {"keyspace", keyspace_of(request)},
                                  {"client", address_of(client)},
                                  {"role", role_of(request)},
                                  {"id", statement_id(request)},
                                  {"not_told", count_text(*suppressed)}}));
}

void RequestLog::log_failed_request(const InFlightRequest& request, const engine::Client& client,
                                    const base::Error& error, Time now) {
  const auto suppressed = failed_.admit(now);
  if (!suppressed) return;
  spdlog::error("{}",
                base::with_fields("request failed",
                                  {{"code", fmt::format("0x{:04x}", static_cast<int32_t>(error.code()))},
                                   {"error", error.message()},
                                   {"kind", plan::to_string(kind_of(request))},
                                   {"statement", statement_text(request)},
                                   {"keyspace", keyspace_of(request)},
                                   {"client", address_of(client)},
                                   {"role", role_of(request)},
                                   {"id", statement_id(request)},
                                   {"not_told", count_text(*suppressed)}}));
}

void RequestLog::log_exception(const base::Error& thrown) noexcept {
  const auto suppressed = thrown_.admit(std::chrono::steady_clock::now());
  if (!suppressed) return;
  (void)base::contain([&] {
    spdlog::error("{}",
                  base::with_fields("an exception was caught",
                                    {{"error", thrown.message()}, {"not_told", count_text(*suppressed)}}));
  });
}

void RequestLog::log_schema_change(const InFlightRequest& request, const engine::Client& client) {
  if (!request.plan) return;
  const plan::ExecutionProfile& profile = request.plan->profile;
  const bool is_truncate = profile.kind == plan::StatementKind::truncate;
  if (profile.kind != plan::StatementKind::definition && !is_truncate) return;
  const execute::ResultSet::Kind result = (*request.result)->kind;
  std::string_view what;
  if (result == execute::ResultSet::Kind::schema_change) {
    what = "schema changed";
  } else if (is_truncate) {
    what = "table truncated";
  } else if (result == execute::ResultSet::Kind::nothing && profile.is_about_roles) {
    what = "roles changed";
  } else {
    return;
  }
  spdlog::info("{}", base::with_fields(what, {{"statement", statement_text(request)},
                                              {"keyspace", keyspace_of(request)},
                                              {"client", address_of(client)},
                                              {"role", role_of(request)}}));
}

void RequestLog::log_refused_login(const std::string& address, std::string_view identity,
                                   const base::Error& why, Time now) {
  const auto suppressed = refused_.admit(now);
  if (!suppressed) return;
  spdlog::warn("{}", base::with_fields("login refused", {{"role", printable(identity)},
                                                         {"client", address},
                                                         {"error", printable(why.message())},
                                                         {"not_told", count_text(*suppressed)}}));
}

}  // namespace sibyl::server
