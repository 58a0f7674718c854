#include "cli/session/session.h"

#include <algorithm>
#include <charconv>

namespace sibyl::cli::shell {

const TableNames::Column* TableNames::find(std::string_view column) const {
  const auto found =
      std::find_if(columns.begin(), columns.end(), [&](const Column& c) { return c.name == column; });
  return found == columns.end() ? nullptr : &*found;
}

const TableNames* SchemaNames::find_table(std::string_view keyspace, std::string_view table) const {
  const auto found_keyspace = keyspaces.find(keyspace);
  if (found_keyspace == keyspaces.end()) return nullptr;
  const auto found = found_keyspace->second.tables.find(table);
  return found == found_keyspace->second.tables.end() ? nullptr : &found->second;
}

std::optional<Address> parse_address(std::string_view text) {
  Address address;
  std::string_view host = text;
  std::string_view port;
  if (!text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos) {
    host = {};
    port = text;
  } else if (text.starts_with('[')) {
    const size_t close = text.find(']');
    if (close == std::string_view::npos) return std::nullopt;
    host = text.substr(1, close - 1);
    const std::string_view rest = text.substr(close + 1);
    if (!rest.empty() && (rest[0] != ':' || rest.size() == 1)) return std::nullopt;
    if (!rest.empty()) port = rest.substr(1);
    // With several colons, it is an IPv6 address without a port.
  } else if (std::count(text.begin(), text.end(), ':') == 1) {
    const size_t colon = text.find(':');
    host = text.substr(0, colon);
    port = text.substr(colon + 1);
    if (port.empty()) return std::nullopt;
  }
  if (!host.empty()) address.host = host;
  if (port.empty()) return address;
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), address.port);
  if (error != std::errc() || end != port.data() + port.size() || address.port == 0) return std::nullopt;
  return address;
}

}  // namespace sibyl::cli::shell
