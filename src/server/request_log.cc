#include "server/request_log.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "base/log_fields.h"
#include "cql/redact.h"
#include "server/call.h"
#include "server/request_metrics.h"

namespace sibyl::server {
namespace {

std::string statement_text(const Call& call) {
  if (call.plan) return cql::without_literals(call.plan->text);
  if (!call.batch_tables.empty()) return "BATCH";
  return {};
}

// The id by which clients know a prepared statement.
std::string statement_id(const Call& call) {
  std::string hex;
  if (call.is_execute)
    for (const char byte : call.execute.id) hex += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  return hex;
}

}  // namespace

bool LogLimit::allows(std::chrono::steady_clock::time_point now, uint64_t& kept_back) {
  const int64_t second = std::chrono::duration_cast<std::chrono::seconds>(now.time_since_epoch()).count();
  if (second_.exchange(second, std::memory_order_relaxed) != second) in_second_ = 0;
  if (in_second_.fetch_add(1, std::memory_order_relaxed) >= per_second_) {
    kept_back_.fetch_add(1, std::memory_order_relaxed);
    return false;
  }
  kept_back = kept_back_.exchange(0, std::memory_order_relaxed);
  return true;
}

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

void RequestLog::tell_slow(const Call& call, Time now) {
  uint64_t kept_back = 0;
  if (!slow_.allows(now, kept_back)) return;
  const auto micros = std::chrono::duration_cast<std::chrono::microseconds>(now - call.arrived).count();
  spdlog::warn("{}",
               base::with_fields("slow request",
                                 {{"milliseconds", fmt::format("{:.1f}", static_cast<double>(micros) / 1000)},
                                  {"kind", engine::to_string(kind_of(call))},
                                  {"statement", statement_text(call)},
                                  {"id", statement_id(call)},
                                  {"not_told", std::to_string(kept_back)}}));
}

void RequestLog::tell_failed(const Call& call, const base::Error& error, Time now) {
  uint64_t kept_back = 0;
  if (!failed_.allows(now, kept_back)) return;
  spdlog::error("{}",
                base::with_fields("request failed",
                                  {{"code", fmt::format("0x{:04x}", static_cast<int32_t>(error.code()))},
                                   {"error", error.message()},
                                   {"kind", engine::to_string(kind_of(call))},
                                   {"statement", statement_text(call)},
                                   {"id", statement_id(call)},
                                   {"not_told", std::to_string(kept_back)}}));
}

}  // namespace sibyl::server
