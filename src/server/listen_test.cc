#include "server/listen.h"

#include <gtest/gtest.h>

#include "server/test_client.h"

namespace sibyl::server {
namespace {

TEST_F(ServerTest, APortInUseIsReported) {
  Options options;
  options.port = port();
  const auto second = Server::start(engine_.services(), options);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().message(),
            "Cannot listen on 127.0.0.1:" + std::to_string(port()) + ": Address already in use");
  EXPECT_EQ(second.error().hint(),
            "Another program listens there, perhaps another server: `ss -ltnp` shows it. Stop it, or choose "
            "another port: --listen for CQL, --metrics for metrics and the console.");
}

TEST(ListenAddress, Forms) {
  struct Case {
    std::string text, host;
    uint16_t port;
  };
  for (const Case& c : {Case{"0.0.0.0:1", "0.0.0.0", 1}, Case{"localhost", "localhost", 9042},
                        Case{":7", "127.0.0.1", 7}, Case{"9043", "127.0.0.1", 9043},
                        Case{"[::1]:8", "::1", 8}, Case{"::1", "::1", 9042}, Case{"[::]", "::", 9042}}) {
    Options options;
    ASSERT_TRUE(parse_listen_address(c.text, options)) << c.text;
    EXPECT_EQ(options.host, c.host);
    EXPECT_EQ(options.port, c.port);
  }
  Options options;
  EXPECT_FALSE(parse_listen_address("host:port", options));
  EXPECT_FALSE(parse_listen_address("host:70000", options));
  EXPECT_FALSE(parse_listen_address("70000", options));
}

TEST(Listen, ConnectionsLeaveDescriptorsToTheStore) {
  EXPECT_EQ(connections_within(16'384, 1'048'576), 16'384u);
  EXPECT_EQ(connections_within(SIZE_MAX, 1'048'576), 1'047'936u);
  EXPECT_EQ(connections_within(16'384, 4096), 3456u);
  EXPECT_EQ(connections_within(16'384, 1024), 512u);
  EXPECT_EQ(connections_within(100, 1024), 100u);
  EXPECT_EQ(connections_within(16'384, 20), 10u);
  EXPECT_EQ(connections_within(16'384, SIZE_MAX), 16'384u);
}

TEST(ListenAddress, EndpointsPrintAsTheyAreWritten) {
  using boost::asio::ip::make_address;
  EXPECT_EQ(to_text({make_address("127.0.0.1"), 9042}), "127.0.0.1:9042");
  EXPECT_EQ(to_text({make_address("::1"), 9042}), "[::1]:9042");
}

}  // namespace
}  // namespace sibyl::server
