// A session over the network.
#pragma once

#include <memory>
#include <string_view>

#include "base/result.h"
#include "cli/session/session.h"

namespace sibyl::cli::shell {

// Describes a failed connection: address, reason, and a hint. The hint is `when_unreachable` if no server
// answers.
base::Error connect_error(const client::Options& options, const base::Error& error,
                          std::string_view when_unreachable);

// Errors have a hint that says what to do.
base::Result<std::unique_ptr<Session>> connect_session(const client::Options& options,
                                                       std::string_view when_unreachable);

}  // namespace sibyl::cli::shell
