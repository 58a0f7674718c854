#include "server/scheduling/load.h"

#include <gtest/gtest.h>

namespace sibyl::server {
namespace {

TEST(ServerLoad, AddsUpItsReactors) {
  Limits limits;
  limits.total_requests_in_flight = 3;
  limits.total_bytes_in_flight = 1000;
  ServerLoad server(limits);
  ReactorLoad& one = server.add_reactor();
  ReactorLoad& other = server.add_reactor();
  one.add_request(100);
  other.add_request(200);
  EXPECT_EQ(server.requests(), 2u);
  EXPECT_EQ(server.request_bytes(), 300u);
  EXPECT_FALSE(server.is_full());
  other.add_request(0);
  EXPECT_TRUE(server.is_full());
  other.remove_request(200);
  EXPECT_FALSE(server.is_full());
  one.add_request(900);
  EXPECT_TRUE(server.is_full());

  one.count_unsent(0, 70);
  one.count_unsent(70, 50);
  other.add_waiting(7);
  EXPECT_EQ(server.unsent_bytes(), 57u);
  other.remove_waiting(7);
  EXPECT_EQ(server.unsent_bytes(), 50u);

  one.count_incoming({}, {10, 0});
  one.count_incoming({10, 0}, {0, 500});
  other.count_incoming({}, {20, 0});
  EXPECT_EQ(server.incoming().begun, 20u);
  EXPECT_EQ(server.incoming().whole, 500u);

  one.count_held(3);
  other.count_held(2);
  one.count_held(-1);
  EXPECT_EQ(server.held_requests(), 4u);
}

TEST(ReactorLoad, HeldRequestsDoNotCountAsFull) {
  ReactorLoad load(10);
  load.set_max_requests(2);
  load.add_request(1);
  EXPECT_FALSE(load.is_full());
  load.add_request(1);
  EXPECT_TRUE(load.is_full());
  load.count_held(1);
  EXPECT_FALSE(load.is_full());
}

}  // namespace
}  // namespace sibyl::server
