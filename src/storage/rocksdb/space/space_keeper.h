// Keeps a store working on a file system that is nearly full.
//
// available = free space on the file system + the reserve (disk_space.h). Commits are accepted while at least
// this much is available:
//
//   ordinary                 the reserve, the future file size of the memory tables, twice the size of
//                            waiting commits (once for the log, once for files), and one log segment
//   deletions                a quarter of the reserve, and twice the size of waiting commits
//   TRUNCATE, definitions    nothing: they may use up the reserve
//
// A flush therefore always finds space, with the reserve, unless other programs take it. Near the limit,
// memory tables are flushed early and the log releases its segments. Compactions run only while they leave as
// much as ordinary commits need. If there is no space for them, they are switched off until there is, so that
// RocksDB does not stall writes to wait for them.
//
// A thread checks the file system several times a second and runs the reclaimer. admit(), may_compact()
// and make_room() are thread-safe.
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
    uint64_t write_buffer_bytes = 0;  // flushed at once
    uint64_t log_segment_bytes = 0;
    uint64_t queue_bytes = 0;  // size of the commit queue
    bool automatic_compaction = true;
    // true: the write buffer is larger than usual, because the log was replayed; it must be reset.
    bool has_replay_buffer = false;
  };

  // Borrows all of these; they must outlive it. Until start(), compactions are off while is_tight().
  SpaceKeeper(DiskSpace& space, BackgroundListener& background, Reclaimer& reclaimer, Options options);
  ~SpaceKeeper() { stop(); }

  // Starts the thread. `work` may be called until stop() returns. It must not call admit().
  void start(::rocksdb::DB& database, Reclaimer::Work work);
  // Replaces start(), without a thread: run_once() must then be called about once a second, by one thread.
  void attach(::rocksdb::DB& database, Reclaimer::Work work);
  // Checks the file system, reacts, and frees erased data. Returns the time to wait before the next call.
  std::chrono::milliseconds run_once();
  // Stops the thread and cancels the compactions that it runs.
  void stop();

  // True if free space is scarce. Then commits must call admit().
  bool is_tight() const { return is_tight_.load(std::memory_order_relaxed); }
  // Admits a write set of `bytes`, or returns an error that says how much space is missing. Admitted bytes stay
  // reserved until finish().
  base::Status admit(Purpose purpose, uint64_t bytes);
  void finish(uint64_t bytes) { waiting_.fetch_sub(bytes, std::memory_order_relaxed); }

  // Returns true if a compaction may write `bytes` more.
  bool may_compact(uint64_t bytes) const;
  // Call before a flush writes `bytes`. Releases the reserve if they would not fit otherwise.
  void make_room(uint64_t bytes);

 private:
  using Clock = std::chrono::steady_clock;

  void loop();
  std::chrono::milliseconds check_space();
  void react_to_space();
  void relieve_pressure();
  void resume_after_failure();
  void reclaim();
  void decide_about_compaction();
  bool has_room_for_compaction() const;
  void switch_compaction(bool on);
  void reset_write_buffer();
  bool is_low() const;
  uint64_t unflushed() const;
  uint64_t needed_by_ordinary(uint64_t unflushed_bytes) const;

  DiskSpace& space_;
  BackgroundListener& background_;
  Reclaimer& reclaimer_;
  const Options options_;
  ::rocksdb::DB* database_ = nullptr;
  Reclaimer::Work work_;

  std::atomic<bool> is_tight_ = true;  // true until the first check
  std::atomic<uint64_t> waiting_ = 0;
  std::atomic<uint64_t> unflushed_ = 0;  // the value at the last check
  std::atomic<bool> is_reclaiming_ = false;
  std::atomic<bool> is_refusing_ = false;  // the state that was last written to the server's log

  // These are used only by the thread.
  std::optional<bool> compacts_;  // true if RocksDB compacts by itself; nullopt before the first decision
  bool has_replay_buffer_ = false;
  Clock::time_point next_level_check_{}, next_resume_{};

  std::mutex mutex_;
  std::condition_variable woken_;
  bool stopping_ = false;  // guarded by mutex_
  std::thread thread_;
};

}  // namespace sibyl::storage::rocksdb
