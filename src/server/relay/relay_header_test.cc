#include "server/relay/relay_header.h"

#include <gtest/gtest.h>

#include <string>

namespace sibyl::server {
namespace {

using boost::asio::ip::make_address;

TEST(RelayHeader, KeepsAddressesOfBothFamilies) {
  for (const char* address : {"192.0.2.7", "2001:db8::7", "127.0.0.1"}) {
    const RelayHeader header{std::string(16, '\x7f'), {make_address(address), 40'000}};
    const base::Bytes bytes = encode(header);
    ASSERT_EQ(bytes.size(), relay_header_size);
    EXPECT_TRUE(may_begin_relay_header(bytes[0]));
    const auto parsed = parse_relay_header(bytes);
    ASSERT_TRUE(parsed) << address;
    EXPECT_EQ(parsed->host_id, header.host_id);
    EXPECT_EQ(parsed->client, header.client);
  }
}

TEST(RelayHeader, RefusesWhatIsNone) {
  const base::Bytes bytes = encode({std::string(16, 'i'), {make_address("::1"), 1}});
  EXPECT_FALSE(parse_relay_header(bytes.substr(1)));
  EXPECT_FALSE(parse_relay_header(bytes + "x"));
  base::Bytes other = bytes;
  other[5] = 'x';
  EXPECT_FALSE(parse_relay_header(other));
  for (const char version : {3, 4, 5, 0x16}) EXPECT_FALSE(may_begin_relay_header(version));
}

}  // namespace
}  // namespace sibyl::server
