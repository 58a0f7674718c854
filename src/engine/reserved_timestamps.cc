#include "engine/reserved_timestamps.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>

#include "base/bytes.h"
#include "engine/prepared/paging_states.h"
#include "row/record_key.h"

namespace sibyl::engine {
namespace {

using base::Bytes;
using base::BytesView;

constexpr char reservation_version = 1;
constexpr std::chrono::seconds renewal_interval{1};
// How far a reservation is ahead of the clock. If it cannot be renewed for longer than this, timestamps stop
// following the clock.
constexpr int64_t reserved_micros = 10'000'000;
// How far timestamps may pass the limit before the next renewal. Beyond the limit, each timestamp is the
// previous one plus one, and fewer than a million write sets are committed between two renewals.
constexpr int64_t spare_micros = 1'000'000;
// A larger distance to the previous owner's clock is reported.
constexpr int64_t tolerated_skew_micros = 30'000'000;

Bytes reservation_key() {
  Bytes key = row::table_begin(keys_table_id);
  key.push_back('t');
  return key;
}

// Returns 0 if there is no reservation.
base::Result<int64_t> read_reservation(const storage::Store& store) {
  Bytes value;
  SIBYL_ASSIGN(const bool found, store.get(reservation_key(), value));
  if (!found) return 0;
  if (value.size() != 1 + sizeof(int64_t) || value[0] != reservation_version)
    return base::fail(base::ErrorCode::server,
                      "The reservation of timestamps was written in another version of the format");
  return static_cast<int64_t>(base::read_big_endian<uint64_t>(BytesView(value).substr(1)));
}

}  // namespace

base::Result<std::unique_ptr<ReservedTimestamps>> ReservedTimestamps::start(
    storage::Store& store, execute::TimestampSource& timestamps, base::Clock& clock) {
  std::unique_ptr<ReservedTimestamps> reserved(new ReservedTimestamps(store, timestamps, clock));
  SIBYL_TRY(reserved->start());
  return reserved;
}

base::Status ReservedTimestamps::start() {
  SIBYL_ASSIGN(const int64_t before, read_reservation(store_));
  const int64_t now = clock_.now_micros();
  if (before - now > reserved_micros + spare_micros + tolerated_skew_micros)
    spdlog::warn(
        "the clock is {} s behind that of the server that had this database before: check both clocks",
        (before - now - reserved_micros) / 1'000'000);
  timestamps_.start_above(before);
  SIBYL_TRY(reserve(std::max(now, before)));
  thread_ = std::thread([this] { run(); });
  return {};
}

ReservedTimestamps::~ReservedTimestamps() {
  {
    base::MutexLock lock(mutex_);
    is_stopping_ = true;
    wake_.notify_one();
  }
  if (thread_.joinable()) thread_.join();
}

base::Status ReservedTimestamps::reserve(int64_t after) {
  const int64_t limit = after + reserved_micros;
  Bytes value(1, reservation_version);
  base::append_big_endian(value, static_cast<uint64_t>(limit + spare_micros));
  storage::WriteSet writes;
  writes.put(reservation_key(), std::move(value));
  SIBYL_TRY(store_.commit(std::move(writes)));
  timestamps_.set_limit(limit);
  return {};
}

// If the clock is set back, the reservation is kept. The limit must not fall below assigned timestamps.
void ReservedTimestamps::run() {
  int64_t latest = clock_.now_micros();
  base::MutexLock lock(mutex_);
  while (!is_stopping_) {
    wake_.wait_for(mutex_, renewal_interval);
    if (is_stopping_) return;
    lock.unlock();
    latest = std::max({latest, clock_.now_micros(), timestamps_.last()});
    if (const base::Status done = reserve(latest); !done)
      spdlog::warn("timestamps cannot be reserved: {}", done.error().text());
    lock.lock();
  }
}

}  // namespace sibyl::engine
