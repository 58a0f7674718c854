// Notifications to the parent of this process: the service manager, and the reader of standard output.
#pragma once

#include <string_view>

namespace sibyl::cli {

// Sends a state such as "READY=1" or "STOPPING=1", like sd_notify(3). Does nothing if NOTIFY_SOCKET is not
// set.
void notify_service_manager(std::string_view state);
// Prints one line to standard output. The server keeps running if that is closed.
void print_line(std::string_view text);

}  // namespace sibyl::cli
