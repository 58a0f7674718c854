// Telling the service manager that started this process how it is.
#pragma once

#include <string_view>

namespace sibyl {

// As sd_notify(3): "READY=1", "STOPPING=1". Nothing happens when NOTIFY_SOCKET names nobody to tell.
void notify_service_manager(std::string_view state);

}  // namespace sibyl
