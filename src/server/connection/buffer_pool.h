// Memory for responses, shared by the connections of a reactor. So a connection with nothing to send holds
// none. Used only on the reactor's thread.
#pragma once

#include <utility>
#include <vector>

#include "base/bytes.h"

namespace sibyl::server {

class BufferPool {
 public:
  // Returns an empty buffer, which has the memory of an earlier one if there is any.
  base::Bytes take() {
    if (spare_.empty()) return {};
    base::Bytes buffer = std::move(spare_.back());
    spare_.pop_back();
    return buffer;
  }
  // Takes a buffer back. Frees it if it is large or if enough are kept.
  void give(base::Bytes buffer) {
    constexpr size_t max_buffers = 32, max_bytes = 256u << 10;
    if (buffer.capacity() > max_bytes || spare_.size() >= max_buffers) return;
    buffer.clear();
    spare_.push_back(std::move(buffer));
  }

 private:
  std::vector<base::Bytes> spare_;
};

}  // namespace sibyl::server
