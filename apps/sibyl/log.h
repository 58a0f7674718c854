// The server's log: lines of text or of JSON, to standard error or to files that are set aside when they are
// full. The newest lines are also kept for system_views.system_logs.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/monitor.h"
#include "sibyl/configuration.h"

namespace spdlog {
class formatter;
}

namespace sibyl {

// From now on spdlog's default logger writes as told.
base::Status start_log(const LogOptions& options);
// Opens log_file again, for whoever has moved it away; standard error stays. When that fails the log goes on
// where it was.
base::Status reopen_log();
// Oldest first. Any thread.
std::vector<engine::LogLine> recent_log_lines();

// One line for each event, with its fields (base/log_fields.h):
//   2026-11-15T14:00:00.123Z warning slow request milliseconds=612.0 statement="SELECT v FROM t WHERE k = ?"
//   {"time":"2026-11-15T14:00:00.123Z","level":"warning","message":"slow request","milliseconds":612.0,…}
std::unique_ptr<spdlog::formatter> make_formatter(bool is_json);

}  // namespace sibyl
