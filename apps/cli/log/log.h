// The server's log: lines of text or JSON, to standard error or to files that are rotated when they are full.
// The newest lines are also kept in memory for system_views.system_logs.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/configuration/configuration.h"
#include "engine/statistics/monitor.h"

namespace spdlog {
class formatter;
}

namespace sibyl::cli {

// Sets up spdlog's default logger.
base::Status start_log(const LogOptions& options);
// Reopens log_file, which may have been moved away. Does nothing for standard error. If it fails, the log
// keeps using the old file.
base::Status reopen_log();
// Oldest first. Thread-safe.
std::vector<engine::LogLine> recent_log_lines();

// Formats one line per event, with its fields (base/log_fields.h):
//   2026-11-15T14:00:00.123Z warning slow request milliseconds=612.0 statement="SELECT v FROM t WHERE k = ?"
//   {"time":"2026-11-15T14:00:00.123Z","level":"warning","message":"slow request","milliseconds":612.0,…}
std::unique_ptr<spdlog::formatter> make_formatter(bool is_json);

}  // namespace sibyl::cli
