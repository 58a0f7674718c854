// The identity of a logged-in client.
#pragma once

#include <cstdint>
#include <string>

namespace sibyl::auth {

// There is one object for each role that has logged in. It lives as long as the engine, so pointers to it may
// be kept.
struct Login {
  std::string role;
  uint32_t number = 0;  // unique per role
};

}  // namespace sibyl::auth
