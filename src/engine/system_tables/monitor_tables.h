// Fills the tables of system_views about clients, requests, caches, threads and files when they are read.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "engine/measurements.h"
#include "engine/options.h"
#include "engine/schema_source.h"
#include "engine/server_tables.h"
#include "engine/statistics/recent_rate.h"
#include "engine/system_tables/system_tables.h"

namespace sibyl::engine {

class MonitorTables final : public ServerTables {
 public:
  // Borrows both arguments. Shows the data directory and the log of `options`.
  MonitorTables(SystemTables& tables, const Options& options) : tables_(tables), options_(options) {}

  // Borrows the arguments, which must outlive the last read of the tables.
  void install(const SchemaSource& schema_source, const Measurements& measurements);

  void set_endpoint(const std::string& address, uint16_t port) override;
  void set_monitor(const Monitor* monitor) override;
  void set_clients(Clients clients) override;

  // Should be called regularly, so that rates are recent. Reading a table calls it as well. Thread-safe.
  void update_rates(const storage::StoreStatistics& store);

 private:
  struct CacheRates {
    RecentRate hits{std::chrono::steady_clock::now()}, requests{std::chrono::steady_clock::now()};
  };
  using Rows = std::function<std::vector<SystemRow>(const Monitor&)>;
  void install_monitored(const char* table, Rows rows);
  void install_store(const SchemaSource& schema_source, const storage::Store& store);
  void install_latencies(const SchemaSource& schema_source);
  std::vector<SystemRow> cache_rows(const storage::StoreStatistics& store, uint64_t blocks);

  SystemTables& tables_;
  const Options& options_;
  base::Mutex mutex_;
  const Monitor* monitor_ SIBYL_GUARDED_BY(mutex_) = nullptr;
  base::Mutex clients_mutex_;
  Clients clients_ SIBYL_GUARDED_BY(clients_mutex_);
  base::Mutex rates_mutex_;
  CacheRates chunk_rates_ SIBYL_GUARDED_BY(rates_mutex_);
  CacheRates row_rates_ SIBYL_GUARDED_BY(rates_mutex_);
};

}  // namespace sibyl::engine
