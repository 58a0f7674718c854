// The error that makes a driver prepare a statement again.
#pragma once

#include <string_view>

#include "base/result.h"

namespace sibyl::engine {

// UNPREPARED (0x2500) with Cassandra's text. Drivers find the statement by `id`.
base::Error unprepared_error(std::string_view id);

}  // namespace sibyl::engine
