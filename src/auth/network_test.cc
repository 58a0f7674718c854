#include "auth/network.h"

#include <gtest/gtest.h>

namespace sibyl::auth {
namespace {

TEST(Network, AnIPv4AddressIsItself) {
  EXPECT_EQ(network_of("10.1.2.3"), "10.1.2.3");
  EXPECT_EQ(network_of("::ffff:10.1.2.3"), "10.1.2.3");
  EXPECT_EQ(network_of("::ffff:0a01:0203"), "10.1.2.3");
}

TEST(Network, AnIPv6AddressIsItsFirstHalf) {
  EXPECT_EQ(network_of("2001:db8:1:2:3:4:5:6"), "2001:db8:1:2::/64");
  EXPECT_EQ(network_of("2001:db8:1:2::1"), network_of("2001:db8:1:2:ffff:ffff:ffff:ffff"));
  EXPECT_NE(network_of("2001:db8:1:2::1"), network_of("2001:db8:1:3::1"));
}

TEST(Network, OtherTextsAreUnchanged) {
  EXPECT_EQ(network_of("fe80::1%eth0"), "fe80::1%eth0");
  EXPECT_EQ(network_of(""), "");
  EXPECT_EQ(network_of("nowhere"), "nowhere");
}

}  // namespace
}  // namespace sibyl::auth
