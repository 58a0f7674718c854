// Gives files to the owner of the data when root runs a command on the data of a service's user.
#pragma once

#include <string>

#include "base/result.h"

namespace sibyl::cli {

// If the process runs as root, permanently switches to the user who owns the directory. Otherwise files
// created by root would prevent the service from opening its data. Does nothing for other users.
base::Status become_owner_of(const std::string& directory);
// If the process runs as root, gives `tree` to the owner of `directory`. Does nothing for other users.
base::Status give_to_owner_of(const std::string& directory, const std::string& tree);

}  // namespace sibyl::cli
