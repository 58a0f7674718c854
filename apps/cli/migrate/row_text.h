// Names rows for people.
#pragma once

#include <string>

#include "cli/migrate/part.h"
#include "client/connection.h"

namespace sibyl::cli::migrate {

// "shop.orders id = 7 AND line = 2": the key of a row of a part's select.
std::string key_text(const Part& part, const client::Result& result, const client::Row& row);

}  // namespace sibyl::cli::migrate
