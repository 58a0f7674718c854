// Passwords, asked for on the terminal.
#pragma once

#include <optional>
#include <string>

namespace sibyl::shell {

// From the terminal, without showing it; nullopt when there is none.
std::optional<std::string> ask_password(const std::string& user);

}  // namespace sibyl::shell
