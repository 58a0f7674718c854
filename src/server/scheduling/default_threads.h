#pragma once

#include <algorithm>
#include <thread>

namespace sibyl::server {

// The number of reactors if Options::threads is 0: one per core, at most four.
inline unsigned default_threads() {
  return std::clamp(std::thread::hardware_concurrency(), 1u, 4u);
}

}  // namespace sibyl::server
