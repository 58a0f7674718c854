#include "server/relay/relay_header.h"

#include <algorithm>
#include <string_view>

namespace sibyl::server {

namespace asio = boost::asio;
using base::Bytes;
using base::BytesView;

namespace {
constexpr std::string_view relay_magic = "\r\nSIBYL-RELAY-1\n";
constexpr size_t id_size = 16, address_size = 16;
static_assert(relay_magic.size() + id_size + address_size + 2 == relay_header_size);
}  // namespace

Bytes encode(const RelayHeader& header) {
  const asio::ip::address address = header.client.address();
  const asio::ip::address_v6 v6 =
      address.is_v6() ? address.to_v6() : asio::ip::make_address_v6(asio::ip::v4_mapped, address.to_v4());
  Bytes out(relay_magic);
  out += header.host_id;
  for (const unsigned char byte : v6.to_bytes()) out.push_back(static_cast<char>(byte));
  base::append_big_endian(out, header.client.port());
  return out;
}

std::optional<RelayHeader> parse_relay_header(BytesView bytes) {
  if (bytes.size() != relay_header_size || !bytes.starts_with(relay_magic)) return std::nullopt;
  RelayHeader header;
  header.host_id = bytes.substr(relay_magic.size(), id_size);
  asio::ip::address_v6::bytes_type raw;
  const BytesView address = bytes.substr(relay_magic.size() + id_size, address_size);
  std::copy(address.begin(), address.end(), raw.begin());
  const asio::ip::address_v6 v6(raw);
  const auto port = base::read_big_endian<uint16_t>(bytes.substr(relay_header_size - 2));
  if (v6.is_v4_mapped())
    header.client = {asio::ip::make_address_v4(asio::ip::v4_mapped, v6), port};
  else
    header.client = {v6, port};
  return header;
}

}  // namespace sibyl::server
