#include "types/literals/literal_inet.h"

#include <arpa/inet.h>

#include <array>
#include <vector>

#include "types/literals/scan.h"

namespace sibyl::types {
namespace {

// Parses one to four decimal parts. The last part fills the remaining bytes: 127.1 is 127.0.0.1.
bool parse_v4(std::string_view text, Bytes& out) {
  std::vector<int64_t> parts;
  Scanner scanner(text);
  do {
    int64_t part = 0;
    if (parts.size() == 4 || !scanner.number(1, 18, part)) return false;
    parts.push_back(part);
  } while (scanner.accept('.'));
  if (!scanner.at_end()) return false;
  const size_t last_bytes = 5 - parts.size();
  if (parts.back() >= int64_t{1} << (8 * last_bytes)) return false;
  auto address = static_cast<uint32_t>(parts.back());
  for (size_t i = 0; i + 1 < parts.size(); ++i) {
    if (parts[i] > 255) return false;
    address |= static_cast<uint32_t>(parts[i]) << (24 - 8 * i);
  }
  out = encode_int32(static_cast<int32_t>(address));
  return true;
}

bool parse_v6(std::string_view text, Bytes& out) {
  if (const size_t scope = text.find('%'); scope != std::string_view::npos) {
    // A numeric scope is dropped. The name of an interface would need a lookup.
    Scanner scanner(text.substr(scope + 1));
    int64_t number = 0;
    if (!scanner.number(1, 9, number) || !scanner.at_end()) return false;
    text = text.substr(0, scope);
  }
  std::array<char, 16> bytes;
  if (inet_pton(AF_INET6, std::string(text).c_str(), bytes.data()) != 1) return false;
  out.assign(bytes.data(), bytes.size());
  constexpr std::string_view mapped("\0\0\0\0\0\0\0\0\0\0\xff\xff", 12);
  if (out.starts_with(mapped)) out.erase(0, mapped.size());
  return true;
}

}  // namespace

bool parse_inet(std::string_view text, Bytes& out) {
  constexpr size_t longest_address = 64;
  if (text.size() > longest_address || text.find('\0') != std::string_view::npos) return false;
  if (text == "localhost") text = "127.0.0.1";
  const bool bracketed = text.starts_with('[') && text.ends_with(']');
  if (bracketed) text = text.substr(1, text.size() - 2);
  if (text.find(':') != std::string_view::npos) return parse_v6(text, out);
  return !bracketed && parse_v4(text, out);
}

}  // namespace sibyl::types
