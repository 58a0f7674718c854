// Notifications to the service manager that started this process.
#pragma once

#include <string_view>

namespace sibyl::cli {

// Sends a state such as "READY=1" or "STOPPING=1", like sd_notify(3). Does nothing if NOTIFY_SOCKET is not
// set.
void notify_service_manager(std::string_view state);

}  // namespace sibyl::cli
