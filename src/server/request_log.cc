#include "server/request_log.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>

#include "base/contain.h"
#include "base/log_fields.h"
#include "cql/redact.h"
#include "engine/role_statements.h"
#include "server/call.h"
#include "server/reactor.h"
#include "server/request_metrics.h"
#include "types/text.h"

namespace sibyl::server {
namespace {

std::string table_names(const Call& call) {
  std::string names;
  const schema::SnapshotPtr schema = call.reactor->shared().engine.schema();
  for (const auto& [keyspace_name, keyspace] : schema->keyspaces)
    for (const auto& [name, table] : keyspace->tables)
      if (std::find(call.batch_tables.begin(), call.batch_tables.end(), table->storage_id) !=
          call.batch_tables.end())
        names += fmt::format("{}{}.{}", names.empty() ? "" : ", ", keyspace_name, name);
  return names;
}

std::string statement_text(const Call& call) {
  if (call.plan) return cql::without_literals(call.plan->text);
  if (!call.batch_tables.empty()) return "BATCH on " + table_names(call);
  return {};
}

std::string keyspace_of(const Call& call) {
  return call.plan ? call.plan->keyspace : std::string();
}

std::string address_of(const engine::Client& client) {
  const bool is_v6 = client.address.find(':') != std::string::npos;
  return fmt::format("{}{}{}:{}", is_v6 ? "[" : "", client.address, is_v6 ? "]" : "", client.port);
}

// Nobody has logged in where nobody is asked to.
std::string role_of(const Call& call) {
  return call.who == nullptr ? std::string() : call.who->role;
}

std::string count_text(uint64_t count) {
  return count == 0 ? std::string() : std::to_string(count);
}

// A name from outside, which may be anything.
std::string printable(std::string_view text) {
  constexpr size_t most = 128;
  std::string out(types::whole_characters(text, most));
  for (char& c : out)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
  return text.size() > most ? out + "..." : out;
}

// The id by which clients know a prepared statement.
std::string statement_id(const Call& call) {
  std::string hex;
  if (call.is_execute)
    for (const char byte : call.execute.id) hex += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  return hex;
}

}  // namespace

bool is_servers_fault(base::ErrorCode code) {
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

void RequestLog::tell_slow(const Call& call, const engine::Client& client, Time now) {
  const auto kept_back = slow_.admit(now);
  if (!kept_back) return;
  const auto micros = std::chrono::duration_cast<std::chrono::microseconds>(now - call.arrived).count();
  spdlog::warn("{}",
               base::with_fields("slow request",
                                 {{"milliseconds", fmt::format("{:.1f}", static_cast<double>(micros) / 1000)},
                                  {"kind", engine::to_string(kind_of(call))},
                                  {"statement", statement_text(call)},
                                  {"keyspace", keyspace_of(call)},
                                  {"client", address_of(client)},
                                  {"role", role_of(call)},
                                  {"id", statement_id(call)},
                                  {"not_told", count_text(*kept_back)}}));
}

void RequestLog::tell_failed(const Call& call, const engine::Client& client, const base::Error& error,
                             Time now) {
  const auto kept_back = failed_.admit(now);
  if (!kept_back) return;
  spdlog::error("{}",
                base::with_fields("request failed",
                                  {{"code", fmt::format("0x{:04x}", static_cast<int32_t>(error.code()))},
                                   {"error", error.message()},
                                   {"kind", engine::to_string(kind_of(call))},
                                   {"statement", statement_text(call)},
                                   {"keyspace", keyspace_of(call)},
                                   {"client", address_of(client)},
                                   {"role", role_of(call)},
                                   {"id", statement_id(call)},
                                   {"not_told", count_text(*kept_back)}}));
}

void RequestLog::tell_thrown(const base::Error& thrown) noexcept {
  const auto kept_back = thrown_.admit(std::chrono::steady_clock::now());
  if (!kept_back) return;
  (void)base::contain([&] {
    spdlog::error("{}", base::with_fields("an exception was caught", {{"error", thrown.message()},
                                                                      {"not_told", count_text(*kept_back)}}));
  });
}

void RequestLog::tell_change(const Call& call, const engine::Client& client) {
  if (!call.plan) return;
  const auto* definition = std::get_if<plan::Definition>(&call.plan->plan);
  const bool is_truncate = std::holds_alternative<plan::Truncate>(call.plan->plan);
  if (definition == nullptr && !is_truncate) return;
  const execute::ResultSet::Kind result = (*call.result)->kind;
  std::string_view what;
  if (result == execute::ResultSet::Kind::schema_change) {
    what = "schema changed";
  } else if (is_truncate) {
    what = "table truncated";
  } else if (result == execute::ResultSet::Kind::nothing && engine::is_about_roles(*definition->statement)) {
    what = "roles changed";
  } else {
    return;
  }
  spdlog::info("{}", base::with_fields(what, {{"statement", statement_text(call)},
                                              {"keyspace", keyspace_of(call)},
                                              {"client", address_of(client)},
                                              {"role", role_of(call)}}));
}

void RequestLog::tell_refused(const std::string& address, std::string_view who, const base::Error& why,
                              Time now) {
  const auto kept_back = refused_.admit(now);
  if (!kept_back) return;
  spdlog::warn("{}", base::with_fields("login refused", {{"role", printable(who)},
                                                         {"client", address},
                                                         {"error", printable(why.message())},
                                                         {"not_told", count_text(*kept_back)}}));
}

}  // namespace sibyl::server
