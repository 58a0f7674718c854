#include "server/monitoring/request_metrics.h"

#include <unordered_set>

#include "schema/storage_ids.h"
#include "server/in_flight_request.h"

namespace sibyl::server {

using engine::StatementKind;
using engine::TableMeasure;

namespace {

constexpr std::array error_codes = {base::ErrorCode::server,
                                    base::ErrorCode::protocol,
                                    base::ErrorCode::bad_credentials,
                                    base::ErrorCode::unavailable,
                                    base::ErrorCode::overloaded,
                                    base::ErrorCode::bootstrapping,
                                    base::ErrorCode::truncate,
                                    base::ErrorCode::write_timeout,
                                    base::ErrorCode::read_timeout,
                                    base::ErrorCode::read_failure,
                                    base::ErrorCode::function_failure,
                                    base::ErrorCode::write_failure,
                                    base::ErrorCode::cdc_write_failure,
                                    base::ErrorCode::cas_write_unknown,
                                    base::ErrorCode::syntax,
                                    base::ErrorCode::unauthorized,
                                    base::ErrorCode::invalid,
                                    base::ErrorCode::config,
                                    base::ErrorCode::already_exists,
                                    base::ErrorCode::unprepared};

size_t error_slot(base::ErrorCode code) {
  for (size_t i = 0; i < error_codes.size(); ++i)
    if (error_codes[i] == code) return i;
  return 0;
}

uint64_t micros(std::chrono::steady_clock::duration duration) {
  const auto count = std::chrono::duration_cast<std::chrono::microseconds>(duration).count();
  return count < 0 ? 0 : static_cast<uint64_t>(count);
}

// The index in batch_partitions_: logged, unlogged, counter.
size_t batch_slot(const InFlightRequest& request) {
  if (!request.plan) return static_cast<size_t>(request.batch.kind);
  const plan::ExecutionProfile& profile = request.plan->profile;
  if (profile.kind != StatementKind::batch || profile.batch_kind == cql::Batch::Kind::logged) return 0;
  return profile.batch_kind == cql::Batch::Kind::unlogged ? 1 : 2;
}

}  // namespace

StatementKind kind_of(const InFlightRequest& request) {
  if (request.plan) return request.plan->profile.kind;
  return request.batch_tables.empty() ? StatementKind::other : StatementKind::batch;
}

void RequestMetrics::count(const InFlightRequest& request, Time now) {
  const StatementKind kind = kind_of(request);
  const uint64_t taken = micros(now - request.arrived);
  latencies_[static_cast<size_t>(kind)].record(taken);
  const bool is_understood = request.plan || !request.batch_tables.empty();
  if (is_understood) (request.is_execute ? prepared_ : regular_).add();
  if (!request.result->has_value()) return;
  if (kind == StatementKind::batch)
    batch_partitions_[batch_slot(request)].record((*request.result)->partitions_written);
  count_tables(request, taken, micros(now - request.started), kind);
}

void RequestMetrics::count_tables(const InFlightRequest& request, uint64_t taken, uint64_t local,
                                  StatementKind kind) {
  if (kind == StatementKind::select || kind == StatementKind::scan) {
    const bool is_scan = kind == StatementKind::scan;
    if (request.plan->tables.front()->is_virtual) return;
    Table& table = table_of(request.plan->tables.front()->storage_id);
    record(table, is_scan ? TableMeasure::coordinator_scan : TableMeasure::coordinator_read, taken);
    record(table, is_scan ? TableMeasure::local_scan : TableMeasure::local_read, local);
    record(table, TableMeasure::rows_per_read, (*request.result)->rows_read);
    record(table, TableMeasure::tombstones_per_read, (*request.result)->tombstones_read);
    return;
  }
  const auto write = [&](uint32_t storage_id) {
    Table& table = table_of(storage_id);
    record(table, TableMeasure::coordinator_write, taken);
    record(table, TableMeasure::local_write, local);
  };
  if (!request.plan) {
    for (const uint32_t table : request.batch_tables) write(table);
  } else if (kind <= StatementKind::batch) {
    for (const schema::TablePtr& table : request.plan->tables) write(table->storage_id);
  }
}

RequestMetrics::Table& RequestMetrics::table_of(uint32_t storage_id) {
  if (recent_ != nullptr && recent_id_ == storage_id) return *recent_;
  Table* table = find_table(storage_id);
  if (table == nullptr) {
    const base::MutexLock lock(tables_mutex_);
    table = &tables_[storage_id];
  }
  recent_id_ = storage_id;
  recent_ = table;
  return *table;
}

RequestMetrics::Table* RequestMetrics::find_table(uint32_t storage_id) {
  const auto found = tables_.find(storage_id);
  return found == tables_.end() ? nullptr : &found->second;
}

void RequestMetrics::record(Table& table, TableMeasure measure, uint64_t value) {
  std::unique_ptr<base::Histogram>& histogram = table.measures[static_cast<size_t>(measure)];
  if (!histogram) {
    const base::MutexLock lock(tables_mutex_);
    histogram = std::make_unique<base::Histogram>();
  }
  histogram->record(value);
}

void RequestMetrics::forget_dropped(const schema::Snapshot& schema) {
  const std::unordered_set<uint32_t> present = schema::table_ids(schema);
  recent_ = nullptr;
  const base::MutexLock lock(tables_mutex_);
  std::erase_if(tables_, [&](const auto& entry) { return !present.contains(entry.first); });
}

void RequestMetrics::count_prepare(Time arrived, Time now) {
  latencies_[static_cast<size_t>(StatementKind::prepare)].record(micros(now - arrived));
}

void RequestMetrics::count_error(base::ErrorCode code) {
  errors_[error_slot(code)].add();
}

void RequestMetrics::add_to(engine::Activity& activity) const {
  for (size_t i = 0; i < latencies_.size(); ++i) activity.latencies[i].add(latencies_[i].snapshot());
  for (size_t i = 0; i < error_codes.size(); ++i)
    activity.errors[static_cast<int32_t>(error_codes[i])] += errors_[i].value();
  activity.prepared_executions += prepared_.value();
  activity.regular_executions += regular_.value();
  activity.bytes_received += bytes_received_.value();
  activity.bytes_sent += bytes_sent_.value();
  activity.slow_requests += slow_.value();
  for (size_t i = 0; i < batch_partitions_.size(); ++i)
    activity.batch_partitions[i].add(batch_partitions_[i].snapshot());
  const base::MutexLock lock(tables_mutex_);
  for (const auto& [id, table] : tables_) {
    auto& measures = activity.tables[id];
    for (size_t i = 0; i < table.measures.size(); ++i)
      if (table.measures[i]) measures[i].add(table.measures[i]->snapshot());
  }
}

uint64_t RequestMetrics::answered() const {
  uint64_t sum = 0;
  for (const base::Histogram& latency : latencies_) sum += latency.snapshot().count;
  return sum;
}

}  // namespace sibyl::server
