// Fills the tables of system_views about clients, requests, caches, threads and files when they are read.
#pragma once

#include <functional>
#include <mutex>
#include <vector>

#include "engine/engine.h"
#include "engine/recent_rate.h"
#include "engine/system_tables.h"

namespace sibyl::engine {

class MonitorTables {
 public:
  // Borrows both, which must outlive it. The options' data directory and log are shown.
  void install(SystemTables& tables, Engine& engine, const Options& options);
  // After these return the old one is not asked any more.
  void set_monitor(const Monitor* monitor) {
    std::lock_guard lock(mutex_);
    monitor_ = monitor;
  }
  void set_clients(Engine::Clients clients) {
    std::lock_guard lock(clients_mutex_);
    clients_ = std::move(clients);
  }
  // To be called now and then, so that rates are those of late; reading a table does it, too. Any thread.
  void look_at_rates(const storage::StoreStatistics& store);

 private:
  using Rows = std::function<std::vector<SystemRow>(const Monitor&)>;
  void install_monitored(SystemTables& tables, const char* table, Rows rows);
  void install_measures(SystemTables& tables, Engine& engine);

  std::mutex mutex_;
  const Monitor* monitor_ = nullptr;  // guarded by mutex_
  std::mutex clients_mutex_;
  Engine::Clients clients_;  // guarded by clients_mutex_
  std::mutex rates_mutex_;
  RecentRate cache_hits_{std::chrono::steady_clock::now()};      // guarded by rates_mutex_
  RecentRate cache_requests_{std::chrono::steady_clock::now()};  // guarded by rates_mutex_
};

}  // namespace sibyl::engine
