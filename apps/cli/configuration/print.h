// Parts of the printed configuration.
#pragma once

#include <string>

#include "cli/configuration/configuration.h"

namespace sibyl::cli {

// Where a setting's value comes from: "default", "from the memory there is", "sibyl.yaml:12", "--memory".
std::string origin_text(const Reader::Result& result, const Setting& setting);

}  // namespace sibyl::cli
