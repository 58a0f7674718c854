#pragma once

#include <algorithm>
#include <thread>

namespace sibyl::server {

// What Options::threads 0 stands for: as many as cores, at most four.
inline unsigned default_threads() {
  return std::clamp(std::thread::hardware_concurrency(), 1u, 4u);
}

}  // namespace sibyl::server
