#include "server/relay/relay.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "server/relay/relay_header.h"
#include "server/test_client.h"

namespace sibyl::server {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;

class RelayTest : public testing::Test {
 protected:
  void start(bool trusts) {
    Options options;
    options.port = 0;
    options.threads = 2;
    options.is_relay = [trusts](const std::string&) { return trusts; };
    auto server = Server::start(engine_.services(), options);
    ASSERT_TRUE(server) << server.error().message();
    server_ = std::move(*server);
  }
  std::unique_ptr<Relay> relay(uint16_t port) {
    auto started =
        Relay::start({.host = "127.0.0.1", .port = port, .host_id = base::Bytes(16, 'r'), .target = [this] {
                        return target();
                      }});
    EXPECT_TRUE(started) << started.error().message();
    return started ? std::move(*started) : nullptr;
  }
  std::optional<tcp::endpoint> target() {
    if (!is_found_) return std::nullopt;
    return tcp::endpoint(asio::ip::address_v4::loopback(), server_->port());
  }
  static uint16_t free_port() {
    asio::io_context context;
    return tcp::acceptor(context, tcp::endpoint(asio::ip::address_v4::loopback(), 0)).local_endpoint().port();
  }
  static base::Bytes header() {
    return encode({base::Bytes(16, 'r'), {asio::ip::make_address("192.0.2.7"), 40'000}});
  }

  FakeEngine engine_;
  std::unique_ptr<Server> server_;
  std::atomic<bool> is_found_ = true;
};

TEST_F(RelayTest, PassesRequestsAndResponses) {
  start(true);
  const uint16_t port = free_port();
  const auto relaying = relay(port);
  Client client(port, 0, "127.0.0.9");
  client.startup();
  EXPECT_EQ(values_of(client.query("rows 2 3")), (std::vector<std::string>{"vvv", "vvv"}));
  // The server sees the address of the client, not that of the relay.
  ASSERT_EQ(engine_.clients().size(), 1u);
  EXPECT_EQ(engine_.clients()[0].address, "127.0.0.9");
  EXPECT_EQ(relaying->connections(), 1u);
}

TEST_F(RelayTest, ClosesTheClientsConnectionWithTheServers) {
  start(true);
  const uint16_t port = free_port();
  const auto relaying = relay(port);
  Client client(port);
  client.startup();
  server_.reset();
  EXPECT_TRUE(client.is_closed());
}

TEST_F(RelayTest, AClientWaitsUntilAServerIsFound) {
  start(true);
  is_found_ = false;
  const uint16_t port = free_port();
  const auto relaying = relay(port);
  Client client(port);
  client.send_raw(Client::frame(Opcode::options, 3, ""));
  while (relaying->connections() == 0) std::this_thread::yield();
  is_found_ = true;
  EXPECT_EQ(client.read().header.stream, 3);
}

TEST_F(RelayTest, ClientsNeedNoHeaderEvenWhereRelaysAre) {
  start(true);
  Client client(server_->port());
  client.startup();
  EXPECT_TRUE(std::holds_alternative<protocol::VoidResult>(result_of(client.query("void"))));
}

TEST_F(RelayTest, AHeaderMayArriveInPieces) {
  start(true);
  Client client(server_->port());
  for (const char byte : header()) client.send_raw({&byte, 1});
  client.startup();
  EXPECT_EQ(engine_.clients()[0].address, "192.0.2.7");
}

TEST_F(RelayTest, ADamagedHeaderEndsTheConnection) {
  start(true);
  Client client(server_->port());
  base::Bytes damaged = header();
  damaged[3] = 'x';
  client.send_raw(damaged);
  EXPECT_TRUE(client.is_closed());
}

TEST_F(RelayTest, OnlyServersOfTheClusterAreBelieved) {
  start(false);
  Client client(server_->port());
  client.send_raw(header());
  EXPECT_EQ(client.read().header.opcode, Opcode::error);  // the bytes are no frame
  EXPECT_TRUE(client.is_closed());
}

}  // namespace
}  // namespace sibyl::server
