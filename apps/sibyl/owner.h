// Commands that root runs on the data of a service's own user.
#pragma once

#include <string>

#include "base/result.h"

namespace sibyl {

// Root becomes the owner of the directory, for good: files that root made there would keep the service from
// opening its data. Nothing happens for other users.
base::Status become_owner_of(const std::string& directory);
// Root gives a tree that it made to the owner of another one.
base::Status give_to_owner_of(const std::string& directory, const std::string& tree);

}  // namespace sibyl
