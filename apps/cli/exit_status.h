// The exit statuses of the commands. 0 is success.
#pragma once

namespace sibyl::cli {

inline constexpr int exit_failed =
    1;  // the command failed, or a statement; or it finished and some rows were rejected
inline constexpr int exit_refused =
    2;  // nothing was run: wrong usage or settings, no connection, a missing file

// Other outcomes, which the help of the command explains.
inline constexpr int exit_no_address = 3;  // serve: it cannot listen on the address
inline constexpr int exit_stopped = 3;     // import, export: stopped before the end; the same command resumes
inline constexpr int exit_incomplete = 3;  // recover: some data is lost
inline constexpr int exit_findings = 3;    // advise: findings as severe as --fail-on
inline constexpr int exit_lost = 4;        // serve: another server of the cluster has the database now

}  // namespace sibyl::cli
