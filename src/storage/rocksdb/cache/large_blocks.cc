#include "storage/rocksdb/cache/large_blocks.h"

#include <algorithm>
#include <new>
#include <utility>

#include "base/admission.h"
#include "base/memory.h"
#include "storage/rocksdb/cache/large_records.h"

namespace sibyl::storage::rocksdb {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds patience{1000};
constexpr milliseconds background_patience{3000};
// A turn ends by itself, in case that the work on the record failed.
constexpr milliseconds max_read{1000}, max_record{10'000};
constexpr milliseconds interval{20};
constexpr size_t header_bytes = __STDCPP_DEFAULT_NEW_ALIGNMENT__;  // holds the size

// Fails on a reactor, which must not be blocked.
base::Status may_wait() {
  const base::UnlimitedMemory unlimited;
  return base::admit(0, std::chrono::nanoseconds(patience).count());
}

bool is_in_statement() {
  return base::memory::thread_state.is_in_statement;
}

base::Error too_many_at_once() {
  return base::Error(base::ErrorCode::overloaded, "Other large records are being read or compacted")
      .with_hint("try again later; rows of many megabytes are read one after the other");
}

}  // namespace

void* LargeBlocks::Allocate(size_t size) {
  const bool is_large = size >= min_bytes_;
  base::MemoryReservation reserved;
  bool has_turn = false;
  if (is_large && is_in_statement()) {
    has_turn = take_turn(may_wait() ? patience : milliseconds(0), max_read);
    reserved = base::MemoryReservation(size);
  } else if (is_large) {
    reserved = begin_record(size, 2);  // the record is copied into its new block at once
  }
  char* const start = static_cast<char*>(::operator new(size + header_bytes, std::nothrow));
  if (start == nullptr) throw std::bad_alloc();
  if (is_large && is_in_statement()) add_block(start, has_turn);
  *reinterpret_cast<size_t*>(start) = size;
  return start + header_bytes;
}

void LargeBlocks::Deallocate(void* block) {
  if (block == nullptr) return;
  char* const start = static_cast<char*>(block) - header_bytes;
  if (*reinterpret_cast<size_t*>(start) >= min_bytes_) remove_block(start);
  ::operator delete(start);
}

base::Status LargeBlocks::begin_read(size_t bytes) {
  if (bytes < min_bytes_ || !is_in_statement()) return {};
  SIBYL_TRY(may_wait());
  const auto deadline = Clock::now() + patience;
  if (!take_turn(patience, max_read)) return base::fail(too_many_at_once());
  base::Status admitted = base::admit(bytes, 0);
  while (!admitted && admitted.error().code() == base::ErrorCode::overloaded && Clock::now() < deadline) {
    std::this_thread::sleep_for(interval);
    admitted = base::admit(bytes, 0);
  }
  if (admitted)
    add_turn_to_blocks();
  else
    end_record();
  return admitted;
}

base::MemoryReservation LargeBlocks::begin_record(size_t bytes, size_t copies) {
  if (!is_background_thread()) return {};
  if (bytes >= min_bytes_)
    (void)take_turn(background_patience, max_record);
  else
    end_record();
  return reserve_in_background(copies * bytes);
}

void LargeBlocks::end_record() {
  const base::MutexLock lock(mutex_);
  const auto ours = turns_.find(std::this_thread::get_id());
  if (ours == turns_.end()) return;
  ours->second.until = {};
  if (ours->second.blocks == 0) turns_.erase(ours);
  freed_.notify_all();
}

bool LargeBlocks::must_wait() const {
  const auto now = Clock::now();
  const auto self = std::this_thread::get_id();
  return std::ranges::any_of(turns_, [&](const auto& each) {
    return each.first != self && (each.second.blocks > 0 || now < each.second.until);
  });
}

bool LargeBlocks::take_turn(milliseconds max_wait, milliseconds lasts) {
  const auto deadline = Clock::now() + max_wait;
  base::MutexLock lock(mutex_);
  const auto ours = turns_.find(std::this_thread::get_id());
  const bool has_turn =
      ours != turns_.end() && (ours->second.blocks > 0 || Clock::now() < ours->second.until);
  while (!has_turn && must_wait() && Clock::now() < deadline)
    (void)freed_.wait_until(mutex_, std::min(deadline, Clock::now() + interval));
  const bool is_first = has_turn || !must_wait();
  if (is_first || is_background_thread()) turns_[std::this_thread::get_id()].until = Clock::now() + lasts;
  return is_first;
}

void LargeBlocks::add_block(void* start, bool has_turn) {
  const auto self = std::this_thread::get_id();
  const base::MutexLock lock(mutex_);
  loaded_.emplace(start, Loaded{self, has_turn});
  if (!has_turn) return;
  Turn& turn = turns_[self];
  ++turn.blocks;
  turn.until = {};
}

void LargeBlocks::add_turn_to_blocks() {
  const auto self = std::this_thread::get_id();
  const base::MutexLock lock(mutex_);
  for (auto& [start, block] : loaded_)
    if (block.by == self && !std::exchange(block.has_turn, true)) ++turns_[self].blocks;
}

// The block may be freed by another thread than the one that loaded it.
void LargeBlocks::remove_block(void* start) {
  const base::MutexLock lock(mutex_);
  const auto found = loaded_.find(start);
  if (found == loaded_.end()) return;
  const auto turn = turns_.find(found->second.by);
  if (found->second.has_turn && --turn->second.blocks == 0 && turn->second.until <= Clock::now())
    turns_.erase(turn);
  loaded_.erase(found);
  freed_.notify_all();
}

}  // namespace sibyl::storage::rocksdb
