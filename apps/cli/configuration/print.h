// A configuration as text.
#pragma once

#include <map>
#include <string>

#include "cli/configuration/reader.h"
#include "cli/configuration/settings.h"

namespace sibyl::cli {

// The origin of a setting's value: "default", "from the available memory", "sibyl.yaml:12", "--memory".
std::string origin_text(const Reader::Result& result, const Setting& setting);

// The contents of system_views.settings: every setting that has a value. Secrets are hidden.
std::map<std::string, std::string> shown_settings(const Configuration& configuration);
// A complete sibyl.yaml: the given values with their origin, and the defaults as comments.
std::string print_configuration(const Reader::Result& result);
// The tables of docs/configuration.md.
std::string settings_page();

}  // namespace sibyl::cli
