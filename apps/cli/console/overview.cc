#include "cli/console/overview.h"

#include <pthread.h>
#include <spdlog/spdlog.h>
#include <sys/statvfs.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <initializer_list>

#include "base/contain.h"
#include "base/mutex.h"
#include "base/process.h"
#include "cli/console/warnings.h"

namespace sibyl::cli::console {
namespace {

using base::HistogramSnapshot;
using engine::StatementKind;

bool is_read(StatementKind kind) {
  return kind == StatementKind::select || kind == StatementKind::scan;
}

bool is_write(StatementKind kind) {
  return kind == StatementKind::insert || kind == StatementKind::update || kind == StatementKind::delete_ ||
         kind == StatementKind::conditional || kind == StatementKind::counter || kind == StatementKind::batch;
}

// The difference of two snapshots of a histogram.
HistogramSnapshot difference(const HistogramSnapshot& before, const HistogramSnapshot& now) {
  HistogramSnapshot out;
  for (size_t i = 0; i < out.counts.size(); ++i) out.counts[i] = now.counts[i] - before.counts[i];
  out.count = now.count - before.count;
  out.sum = now.sum - before.sum;
  out.max = now.max;
  return out;
}

uint64_t count_of(const engine::Activity& activity, std::initializer_list<base::ErrorCode> codes) {
  uint64_t count = 0;
  for (const base::ErrorCode code : codes)
    if (const auto found = activity.errors.find(static_cast<int32_t>(code)); found != activity.errors.end())
      count += found->second;
  return count;
}

}  // namespace

struct Overview::Reading {
  std::chrono::steady_clock::time_point at;
  int64_t time = 0;
  HistogramSnapshot reads, writes, others;
  uint64_t errors = 0;
  engine::Activity activity;  // without its tables
  storage::StoreStatistics store;
  base::ProcessUsage usage;

  static std::shared_ptr<Reading> take(const engine::Monitor& monitor, storage::Store& store) {
    auto reading = std::make_shared<Reading>();
    reading->at = std::chrono::steady_clock::now();
    reading->time = std::chrono::duration_cast<std::chrono::milliseconds>(
                        std::chrono::system_clock::now().time_since_epoch())
                        .count();
    reading->activity = monitor.activity();
    reading->activity.tables.clear();
    for (size_t i = 0; i < engine::statement_kinds; ++i) {
      const auto kind = static_cast<StatementKind>(i);
      (is_read(kind)    ? reading->reads
       : is_write(kind) ? reading->writes
                        : reading->others)
          .add(reading->activity.latencies[i]);
    }
    for (const auto& [code, count] : reading->activity.errors) reading->errors += count;
    reading->store = store.statistics();
    reading->usage = base::own_usage();
    return reading;
  }
};

void Overview::start(const engine::Monitor& monitor) {
  thread_ = std::thread([this, &monitor] { run(monitor); });
  pthread_setname_np(thread_.native_handle(), "sibyl-overview");
}

void Overview::stop() {
  {
    const base::MutexLock lock(mutex_);
    is_stopping_ = true;
  }
  stopped_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void Overview::run(const engine::Monitor& monitor) {
  base::MutexLock lock(mutex_);
  // The first periods are short, so that a page that is opened soon after the start is not empty.
  std::chrono::milliseconds pause{500};
  while (!is_stopping_) {
    lock.unlock();
    const auto read = base::contain([&] { return Reading::take(monitor, engine_.store()); });
    lock.lock();
    if (read && last_) {
      samples_.push_back(compare(*last_, **read));
      if (samples_.size() > max_samples) samples_.pop_front();
    }
    if (read) last_ = *read;
    const auto end = std::chrono::steady_clock::now() + pause;
    while (!is_stopping_ && stopped_.wait_until(mutex_, end)) continue;
    pause = std::min<std::chrono::milliseconds>(pause * 2, period);
  }
}

Overview::Sample Overview::compare(const Reading& before, const Reading& now) {
  const double seconds = std::max(1e-3, std::chrono::duration<double>(now.at - before.at).count());
  const auto rate = [&](uint64_t earlier, uint64_t later) {
    return later > earlier ? static_cast<double>(later - earlier) / seconds : 0.0;
  };
  const HistogramSnapshot reads = difference(before.reads, now.reads);
  const HistogramSnapshot writes = difference(before.writes, now.writes);
  Sample sample;
  sample.time = now.time;
  sample.reads = static_cast<double>(reads.count) / seconds;
  sample.writes = static_cast<double>(writes.count) / seconds;
  sample.others = rate(before.others.count, now.others.count);
  sample.errors = rate(before.errors, now.errors);
  sample.read_p50 = reads.percentile(0.5);
  sample.read_p99 = reads.percentile(0.99);
  sample.write_p50 = writes.percentile(0.5);
  sample.write_p99 = writes.percentile(0.99);
  sample.cpu = (now.usage.cpu_seconds - before.usage.cpu_seconds) / seconds;
  sample.memory = now.usage.resident_bytes;
  sample.disk = now.store.bytes_on_disk;
  sample.memtable = now.store.memtable_bytes;
  const double hits = rate(before.store.cache_hits, now.store.cache_hits);
  const double misses = rate(before.store.cache_misses, now.store.cache_misses);
  sample.cache_hits = hits + misses > 0 ? hits / (hits + misses) : 1;
  sample.received = rate(before.activity.bytes_received, now.activity.bytes_received);
  sample.sent = rate(before.activity.bytes_sent, now.activity.bytes_sent);
  sample.flushed = rate(before.store.flush_bytes, now.store.flush_bytes);
  sample.compacted = rate(before.store.compaction_bytes_written, now.store.compaction_bytes_written);
  sample.connections = now.activity.connections;
  sample.in_flight = now.activity.requests_in_flight;
  const auto errors = [&](std::initializer_list<base::ErrorCode> codes) {
    return count_of(now.activity, codes) - count_of(before.activity, codes);
  };
  sample.overloaded = errors({base::ErrorCode::overloaded});
  sample.timed_out = errors({base::ErrorCode::read_timeout, base::ErrorCode::write_timeout});
  sample.connections_refused = now.activity.connections_refused - before.activity.connections_refused;
  return sample;
}

json::object Overview::series_after(int64_t since) const {
  json::object series;
  const auto add = [&](const std::deque<Sample>& samples, const char* name, auto member) {
    json::array& values = series[name].emplace_array();
    for (const Sample& sample : samples)
      if (sample.time > since) values.emplace_back(sample.*member);
  };
  add(samples_, "time", &Sample::time);
  for (const auto& [name, member] :
       {std::pair{"reads", &Sample::reads}, std::pair{"writes", &Sample::writes},
        std::pair{"others", &Sample::others}, std::pair{"errors", &Sample::errors},
        std::pair{"cpu", &Sample::cpu}, std::pair{"cache_hits", &Sample::cache_hits},
        std::pair{"received", &Sample::received}, std::pair{"sent", &Sample::sent},
        std::pair{"flushed", &Sample::flushed}, std::pair{"compacted", &Sample::compacted}})
    add(samples_, name, member);
  for (const auto& [name, member] :
       {std::pair{"read_p50", &Sample::read_p50}, std::pair{"read_p99", &Sample::read_p99},
        std::pair{"write_p50", &Sample::write_p50}, std::pair{"write_p99", &Sample::write_p99},
        std::pair{"memory", &Sample::memory}, std::pair{"disk", &Sample::disk},
        std::pair{"memtable", &Sample::memtable}, std::pair{"connections", &Sample::connections},
        std::pair{"in_flight", &Sample::in_flight}})
    add(samples_, name, member);
  return series;
}

json::object Overview::current_state() const {
  json::object now{{"cores", std::thread::hardware_concurrency()}, {"data", data_}};
  struct statvfs disk{};
  if (data_ != ":memory:" && ::statvfs(data_.c_str(), &disk) == 0) {
    now["disk_free_bytes"] = uint64_t{disk.f_bavail} * disk.f_frsize;
    now["disk_total_bytes"] = uint64_t{disk.f_blocks} * disk.f_frsize;
  }
  if (!last_) return now;
  const storage::StoreStatistics& store = last_->store;
  now["uptime_seconds"] = static_cast<double>(last_->activity.uptime_micros) / 1e6;
  now["requests"] = last_->reads.count + last_->writes.count + last_->others.count;
  now["errors"] = last_->errors;
  now["files"] = store.files;
  now["cache_bytes"] = store.cache_bytes;
  now["cache_capacity_bytes"] = store.cache_capacity_bytes;
  now["running_compactions"] = store.running_compactions;
  now["running_flushes"] = store.running_flushes;
  now["pending_compaction_bytes"] = store.pending_compaction_bytes;
  now["background_errors"] = store.background_errors;
  now["threads"] = last_->usage.threads;
  uint64_t overloaded = 0, timed_out = 0, connections_refused = 0;
  for (const Sample& sample : samples_) {
    if (sample.time <= last_->time - 60'000) continue;
    overloaded += sample.overloaded;
    timed_out += sample.timed_out;
    connections_refused += sample.connections_refused;
  }
  now["overloaded_last_minute"] = overloaded;
  now["timed_out_last_minute"] = timed_out;
  now["connections_refused_last_minute"] = connections_refused;
  return now;
}

Answer Overview::show(const Call& call) {
  int64_t since = 0;
  const std::string given = call.parameter("since");
  std::from_chars(given.data(), given.data() + given.size(), since);
  json::object now, series;
  {
    const base::MutexLock lock(mutex_);
    series = series_after(since);
    now = current_state();
  }
  json::array warnings = readable_warnings(call, current_warnings(now));
  return json::object{
      {"now", std::move(now)}, {"series", std::move(series)}, {"warnings", std::move(warnings)}};
}

// Finding warnings reads statistics of every table, so pages that poll share the result.
json::array Overview::current_warnings(const json::object& now) {
  constexpr std::chrono::seconds kept{15};
  const base::MutexLock lock(warnings_mutex_);
  const auto time = std::chrono::steady_clock::now();
  if (!warnings_ || time - warnings_time_ > kept) {
    warnings_ = find_warnings(engine_, now);
    warnings_time_ = time;
  }
  return *warnings_;
}

}  // namespace sibyl::cli::console
