// The text of HELP.
#pragma once

#include <string>
#include <string_view>

namespace sibyl::shell {

std::string help_overview();
// About one command or statement; empty when there is nothing to say about it.
std::string help_topic(std::string_view topic);

}  // namespace sibyl::shell
