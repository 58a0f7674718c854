// The connected clients, for system_views.clients. Thread-safe.
#pragma once

#include <atomic>
#include <cstdint>
#include <set>
#include <vector>

#include "base/mutex.h"
#include "engine/server_tables.h"

namespace sibyl::server {

class ClientList {
 public:
  // The entry of one connection. `description` is guarded by the list's mutex. `requests` is written only by
  // the connection's reactor.
  struct Entry {
    engine::Client description;
    std::atomic<uint64_t> requests{0};

    void count_request() {
      requests.store(requests.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    }
  };

  void add(Entry& entry) {
    const base::MutexLock lock(mutex_);
    entries_.insert(&entry);
  }
  void remove(Entry& entry) {
    const base::MutexLock lock(mutex_);
    entries_.erase(&entry);
  }
  template <typename Change>
  void update(Entry& entry, Change change) {
    const base::MutexLock lock(mutex_);
    change(entry.description);
  }
  std::vector<engine::Client> list() const {
    const base::MutexLock lock(mutex_);
    std::vector<engine::Client> clients;
    for (const Entry* entry : entries_) {
      clients.push_back(entry->description);
      clients.back().request_count = entry->requests.load(std::memory_order_relaxed);
    }
    return clients;
  }

 private:
  mutable base::Mutex mutex_;
  std::set<Entry*> entries_ SIBYL_GUARDED_BY(mutex_);
};

}  // namespace sibyl::server
