// How many connections come from each address.
#pragma once

#include <cstddef>
#include <mutex>
#include <string>
#include <unordered_map>

namespace sibyl::server {

// Any thread.
class ConnectionCounts {
 public:
  // False when there are `limit` already.
  bool enter(const std::string& address, size_t limit) {
    const std::lock_guard lock(mutex_);
    size_t& count = counts_[address];
    if (count >= limit) return false;
    ++count;
    return true;
  }
  void leave(const std::string& address) {
    const std::lock_guard lock(mutex_);
    const auto found = counts_.find(address);
    if (found != counts_.end() && --found->second == 0) counts_.erase(found);
  }

 private:
  std::mutex mutex_;
  std::unordered_map<std::string, size_t> counts_;
};

}  // namespace sibyl::server
