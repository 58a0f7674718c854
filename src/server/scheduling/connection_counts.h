// Counts connections, or logins in progress, per client network (auth/network.h).
#pragma once

#include <cstddef>
#include <string>
#include <unordered_map>

#include "auth/network.h"
#include "base/mutex.h"

namespace sibyl::server {

// Thread-safe.
class ConnectionCounts {
 public:
  // Counts one more. Returns false, and counts nothing, if there are `limit` already.
  bool enter(const std::string& address, size_t limit) {
    const base::MutexLock lock(mutex_);
    size_t& count = counts_[auth::network_of(address)];
    if (count >= limit) return false;
    ++count;
    return true;
  }
  void leave(const std::string& address) {
    const base::MutexLock lock(mutex_);
    const auto found = counts_.find(auth::network_of(address));
    if (found != counts_.end() && --found->second == 0) counts_.erase(found);
  }

 private:
  base::Mutex mutex_;
  std::unordered_map<std::string, size_t> counts_ SIBYL_GUARDED_BY(mutex_);
};

}  // namespace sibyl::server
