// Keeps a store working on a file system that is nearly full.
//
// available = what is free on the file system + the reserve (disk_space.h). Commits are taken while at least
// so much is available:
//
//   ordinary                 the reserve, what memory tables will take in files, twice what waits to be
//                            committed (in the log and in files), and a segment of the log
//   deletions                a quarter of the reserve, and twice what waits
//   TRUNCATE, definitions    nothing: they may use up the reserve
//
// So a flush always finds room, unless other programs take it. Near that limit, memory tables are flushed
// early and the log gives back its segments. Compactions run only while they leave as much as ordinary
// commits need; when there is no room for them they are switched off, so that RocksDB does not hold up writes
// for their sake, and on again when there is.
//
// A thread looks at the file system several times a second, and lets the reclaimer free what was erased.
// admit() and may_compact() may be called by any thread.
#pragma once

#include <rocksdb/db.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>

#include "base/result.h"
#include "storage/rocksdb/background_listener.h"
#include "storage/rocksdb/space/disk_space.h"
#include "storage/rocksdb/space/purpose.h"
#include "storage/rocksdb/space/reclaimer.h"

namespace sibyl::storage::rocksdb {

class SpaceKeeper {
 public:
  struct Options {
    uint64_t write_buffer_bytes = 0;  // of one memory table
    uint64_t log_segment_bytes = 0;
    uint64_t queue_bytes = 0;  // of commits that wait
    bool automatic_compaction = true;
    bool has_replay_buffer = false;  // the store was opened with a larger write buffer, to be set back
  };

  // Borrows all of these, which must outlive it. Until start() compactions are off when is_tight().
  SpaceKeeper(DiskSpace& space, BackgroundListener& background, Reclaimer& reclaimer, Options options);
  ~SpaceKeeper() { stop(); }

  // Starts the thread. `work` may be called until stop() returns; it must not use admit().
  void start(::rocksdb::DB& database, Reclaimer::Work work);
  // Ends the thread, and the compactions that it runs.
  void stop();

  // Whether commits must ask admit().
  bool is_tight() const { return is_tight_.load(std::memory_order_relaxed); }
  // Takes a write set of so many bytes, or says how much room is missing. What was admitted counts until
  // finish().
  base::Status admit(Purpose purpose, uint64_t bytes);
  void finish(uint64_t bytes) { waiting_.fetch_sub(bytes, std::memory_order_relaxed); }

  // Whether a compaction may write as many bytes.
  bool may_compact(uint64_t bytes) const;

 private:
  using Clock = std::chrono::steady_clock;

  void loop();
  std::chrono::milliseconds look();
  void act();
  void relieve();
  void resume_after_failure();
  void reclaim();
  void decide_about_compaction();
  bool has_room_for_compaction() const;
  void switch_compaction(bool on);
  void set_back_write_buffer();
  bool is_low() const;
  uint64_t unflushed() const;
  uint64_t needed_by_ordinary(uint64_t unflushed_bytes) const;

  DiskSpace& space_;
  BackgroundListener& background_;
  Reclaimer& reclaimer_;
  const Options options_;
  ::rocksdb::DB* database_ = nullptr;
  Reclaimer::Work work_;

  std::atomic<bool> is_tight_ = true;  // until the thread has looked
  std::atomic<uint64_t> waiting_ = 0;
  std::atomic<uint64_t> unflushed_ = 0;  // as the thread saw it last
  std::atomic<bool> is_reclaiming_ = false;
  std::atomic<bool> is_refusing_ = false;  // as the log was told last

  // The thread's.
  std::optional<bool> compacts_;  // whether RocksDB compacts by itself; not before it was decided
  bool has_replay_buffer_ = false;
  Clock::time_point next_look_at_levels_{}, next_resume_{};

  std::mutex mutex_;
  std::condition_variable woken_;
  bool stopping_ = false;  // guarded by mutex_
  std::thread thread_;
};

}  // namespace sibyl::storage::rocksdb
