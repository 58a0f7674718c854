// Fills the tables of system_views about clients, requests, caches, threads and files when they are read.
#pragma once

#include <functional>
#include <mutex>
#include <vector>

#include "engine/engine.h"
#include "engine/statistics/recent_rate.h"
#include "engine/system_tables/system_tables.h"

namespace sibyl::engine {

class MonitorTables {
 public:
  // Borrows `engine` and `options`, which must outlive the object. Shows the data directory and the log of
  // `options`.
  void install(SystemTables& tables, Engine& engine, const Options& options);
  // Once these functions have returned, the previous object is not used any more.
  void set_monitor(const Monitor* monitor) {
    std::lock_guard lock(mutex_);
    monitor_ = monitor;
  }
  void set_clients(Engine::Clients clients) {
    std::lock_guard lock(clients_mutex_);
    clients_ = std::move(clients);
  }
  // Should be called regularly, so that rates are recent. Reading a table calls it as well. Thread-safe.
  void update_rates(const storage::StoreStatistics& store);

 private:
  struct CacheRates {
    RecentRate hits{std::chrono::steady_clock::now()}, requests{std::chrono::steady_clock::now()};
  };
  using Rows = std::function<std::vector<SystemRow>(const Monitor&)>;
  void install_monitored(SystemTables& tables, const char* table, Rows rows);
  std::vector<SystemRow> cache_rows(const storage::StoreStatistics& store, uint64_t blocks);
  void install_measures(SystemTables& tables, Engine& engine);

  std::mutex mutex_;
  const Monitor* monitor_ = nullptr;  // guarded by mutex_
  std::mutex clients_mutex_;
  Engine::Clients clients_;  // guarded by clients_mutex_
  std::mutex rates_mutex_;
  CacheRates chunk_rates_, row_rates_;  // guarded by rates_mutex_
};

}  // namespace sibyl::engine
