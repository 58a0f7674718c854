// Who has logged in: what a request carries.
#pragma once

#include <cstdint>
#include <string>

namespace sibyl::auth {

// Each role that ever logged in has one, for as long as the engine lives: pointers to it may be kept.
struct Login {
  std::string role;
  uint32_t number = 0;  // another for every role
};

}  // namespace sibyl::auth
