// The text of HELP.
#pragma once

#include <string>
#include <string_view>

namespace sibyl::cli::shell {

std::string help_overview();
// Help on one command or statement; empty if there is none.
std::string help_topic(std::string_view topic);

}  // namespace sibyl::cli::shell
