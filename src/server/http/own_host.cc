#include "server/http/own_host.h"

#include <unistd.h>

#include <algorithm>
#include <boost/asio/ip/address.hpp>
#include <cctype>

#include "base/ascii.h"

namespace sibyl::server {
bool is_own_host(std::string_view host, const std::vector<std::string>& names) {
  std::string name = base::ascii_lower(host);
  const size_t colon = name.rfind(':');
  const bool is_bracketed = name.starts_with('[');
  if (colon != name.npos && (is_bracketed ? name.find(']') < colon : name.find(':') == colon)) {
    if (name.find_first_not_of("0123456789", colon + 1) != name.npos) return false;
    name.resize(colon);
  }
  if (name.ends_with('.')) name.pop_back();
  if (is_bracketed && name.ends_with(']')) name = name.substr(1, name.size() - 2);
  boost::system::error_code no_address;
  boost::asio::ip::make_address(name, no_address);
  if (!no_address) return true;
  return std::any_of(names.begin(), names.end(),
                     [&](const std::string& known) { return known == "*" || known == name; });
}

std::vector<std::string> own_host_names(const std::vector<std::string>& more) {
  char name[256] = {};
  std::vector<std::string> names = {"localhost"};
  if (::gethostname(name, sizeof name - 1) == 0 && name[0] != '\0') names.push_back(base::ascii_lower(name));
  for (const std::string& one : more) names.push_back(base::ascii_lower(one));
  return names;
}

}  // namespace sibyl::server
