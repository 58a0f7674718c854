#include "storage/rocksdb/space/space_keeper.h"

#include <fmt/format.h>
#include <pthread.h>
#include <rocksdb/metadata.h>
#include <spdlog/spdlog.h>

#include <algorithm>

#include "base/contain.h"
#include "storage/rocksdb/database_options.h"

namespace sibyl::storage::rocksdb {
namespace {

using std::chrono::milliseconds;

// The number of bytes that may be written between two checks of the file system.
constexpr uint64_t unseen_bytes = 64 << 20;
constexpr milliseconds short_pause{100}, long_pause{1'000};
// With fewer bytes to free, erased data is not freed.
constexpr uint64_t min_reclaimed_bytes = 1 << 20, min_reclaimed_bytes_when_tight = 64 << 10;

uint64_t sum_of(std::initializer_list<uint64_t> parts) {
  uint64_t sum = 0;
  for (const uint64_t part : parts)
    if (__builtin_add_overflow(sum, part, &sum)) return UINT64_MAX;
  return sum;
}

}  // namespace

SpaceKeeper::SpaceKeeper(DiskSpace& space, BackgroundListener& background, Reclaimer& reclaimer,
                         Options options)
    : space_(space),
      background_(background),
      reclaimer_(reclaimer),
      options_(options),
      has_replay_buffer_(options.has_replay_buffer) {
  check_space();
  if (!is_tight_) compacts_ = true;
}

void SpaceKeeper::attach(::rocksdb::DB& database, Reclaimer::Work work) {
  database_ = &database;
  work_ = std::move(work);
  check_space();
}

void SpaceKeeper::start(::rocksdb::DB& database, Reclaimer::Work work) {
  attach(database, std::move(work));
  thread_ = std::thread([this] { loop(); });
  pthread_setname_np(thread_.native_handle(), "sibyl-space");
}

void SpaceKeeper::stop() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  woken_.notify_one();
  database_->DisableManualCompaction();
  thread_.join();
}

void SpaceKeeper::loop() {
  std::unique_lock lock(mutex_);
  milliseconds pause = short_pause;
  while (!woken_.wait_for(lock, pause, [this] { return stopping_; })) {
    lock.unlock();
    pause = run_once();
    lock.lock();
  }
}

milliseconds SpaceKeeper::run_once() {
  milliseconds pause = short_pause;
  (void)base::contain([&] {
    pause = check_space();
    react_to_space();
    if (reclaimer_.is_due(Clock::now())) reclaim();
  });
  is_reclaiming_ = false;
  return pause;
}

// Checks the file system. Returns the time to wait before the next check.
milliseconds SpaceKeeper::check_space() {
  const uint64_t available = space_.available();
  unflushed_.store(unflushed(), std::memory_order_relaxed);
  const uint64_t tight = sum_of({space_.reserve_bytes(), 3 * options_.write_buffer_bytes, unflushed_,
                                 4 * options_.log_segment_bytes, 2 * options_.queue_bytes, unseen_bytes});
  is_tight_.store(available < tight, std::memory_order_relaxed);
  // Within a second, the space cannot fall from 16 times the limit to less than the limit.
  return available / 16 > tight ? long_pause : short_pause;
}

void SpaceKeeper::react_to_space() {
  if (background_.failed()) resume_after_failure();
  if (is_tight_) relieve_pressure();
  if (is_refusing_ && !is_low()) {
    is_refusing_ = false;
    spdlog::info("writes are accepted again");
  }
  if (!is_tight_ && options_.automatic_compaction) switch_compaction(true);
  if (!is_tight_ && has_replay_buffer_) reset_write_buffer();
  space_.take_reserve(unflushed_ + 2 * options_.log_segment_bytes);
}

void SpaceKeeper::relieve_pressure() {
  const uint64_t available = space_.available();
  const uint64_t needed = needed_by_ordinary(unflushed_);
  if (available >= needed && has_replay_buffer_) reset_write_buffer();
  if (options_.automatic_compaction) decide_about_compaction();
  // Flushing a small memory table would only create a small file.
  if (is_low() && unflushed_ >= options_.write_buffer_bytes / 4 && !background_.failed()) (void)work_.flush();
}

// Called when a flush has failed. That happens only if other programs have filled the file system or the
// device fails. The next flush frees more space in the log than it takes from the reserve.
void SpaceKeeper::resume_after_failure() {
  const auto now = Clock::now();
  if (now < next_resume_) return;
  next_resume_ = now + milliseconds(500);
  if (space_.free() < unflushed_) space_.release_reserve();
  if (background_.resume(*database_).ok()) (void)work_.flush();
}

void SpaceKeeper::reclaim() {
  const bool is_tight = is_tight_;
  if (is_tight && space_.free() < space_.reserve_bytes()) space_.release_reserve();
  is_reclaiming_ = true;
  reclaimer_.run(*database_, work_, is_tight ? min_reclaimed_bytes_when_tight : min_reclaimed_bytes);
  is_reclaiming_ = false;
}

// A failed compaction is not retried immediately.
void SpaceKeeper::decide_about_compaction() {
  const auto now = Clock::now();
  if (background_.take_space_shortage()) {
    next_level_check_ = now + std::chrono::seconds(10);
    switch_compaction(false);
  } else if (now >= next_level_check_) {
    next_level_check_ = now + std::chrono::seconds(2);
    switch_compaction(has_room_for_compaction());
  }
}

// RocksDB picks the most urgent compaction: level 0 with all of the next level, or a file with the
// overlapping files below it.
bool SpaceKeeper::has_room_for_compaction() const {
  ::rocksdb::ColumnFamilyMetaData tables;
  database_->GetColumnFamilyMetaData(&tables);
  uint64_t upper = 0;
  for (const auto& level : tables.levels) {
    upper += level.size;
    if (level.level > 0 && level.size > 0) break;
  }
  constexpr uint64_t files_of_a_compaction = 12;
  const uint64_t results = std::max(upper, files_of_a_compaction * options_.write_buffer_bytes);
  return space_.available() >= sum_of({needed_by_ordinary(unflushed_), results});
}

void SpaceKeeper::switch_compaction(bool on) {
  if (compacts_ == on) return;
  const bool is_first = !compacts_.has_value();
  compacts_ = on;
  if (!on)
    spdlog::warn("compactions wait for more space: {} bytes are free in {}", space_.free(),
                 space_.directory());
  else if (!is_first)
    spdlog::info("compactions run again: {} bytes are free in {}", space_.free(), space_.directory());
  // The result is ignored, because it may be about the options file, which nothing reads.
  database_->SetOptions({{"disable_auto_compactions", on ? "false" : "true"}}).PermitUncheckedError();
}

void SpaceKeeper::reset_write_buffer() {
  has_replay_buffer_ = false;
  database_
      ->SetOptions({{"write_buffer_size", std::to_string(memory_table_bytes(options_.write_buffer_bytes))}})
      .PermitUncheckedError();
}

// Returns true if ordinary commits are refused or will be soon.
bool SpaceKeeper::is_low() const {
  return space_.available() < sum_of({needed_by_ordinary(unflushed_), 2 * options_.log_segment_bytes,
                                      options_.write_buffer_bytes});
}

uint64_t SpaceKeeper::unflushed() const {
  uint64_t bytes = 0;
  if (database_ != nullptr)
    database_->GetIntProperty(::rocksdb::DB::Properties::kCurSizeAllMemTables, &bytes);
  return bytes;
}

uint64_t SpaceKeeper::needed_by_ordinary(uint64_t unflushed_bytes) const {
  return sum_of({space_.reserve_bytes(), unflushed_bytes, options_.log_segment_bytes});
}

base::Status SpaceKeeper::admit(Purpose purpose, uint64_t bytes) {
  const uint64_t waiting = waiting_.fetch_add(bytes, std::memory_order_relaxed) + bytes;
  if (purpose == Purpose::definition) return {};
  const uint64_t kept =
      purpose == Purpose::deletion ? space_.reserve_bytes() / 4 : needed_by_ordinary(unflushed());
  const uint64_t needed = sum_of({kept, waiting, waiting});
  const uint64_t free = space_.free(), held = space_.held();
  if (free == UINT64_MAX || free + held >= needed) return {};
  finish(bytes);
  base::Error error(base::ErrorCode::write_failure,
                    fmt::format("No space left on device: {} bytes are needed and {} bytes are free in {}",
                                needed - std::min(needed, held), free, space_.directory()));
  if (!is_refusing_.exchange(true)) spdlog::error("writes are refused: {}", error.message());
  return base::fail(error.with_hint(
      "free some disk space; writes resume by themselves. Meanwhile TRUNCATE, DROP and DELETE may "
      "use the reserve"));
}

void SpaceKeeper::make_room(uint64_t bytes) {
  constexpr uint64_t blocks_of_the_file = 64 << 10;  // a file takes space for its metadata too
  if (is_tight() && space_.free() < sum_of({bytes, blocks_of_the_file})) space_.release_reserve();
}

bool SpaceKeeper::may_compact(uint64_t bytes) const {
  const uint64_t kept = is_reclaiming_ ? space_.reserve_bytes() / 4 : needed_by_ordinary(unflushed_);
  return space_.available() >= sum_of({kept, bytes});
}

}  // namespace sibyl::storage::rocksdb
