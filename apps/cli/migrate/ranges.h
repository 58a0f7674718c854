// Assigns token ranges of parts to workers, and records the completed work in a journal, so that the same
// command resumes. Thread-safe.
//
// A range that was interrupted resumes after its last page whose rows were all acknowledged.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "cli/copy/copy.h"
#include "cli/migrate/part.h"

namespace sibyl::cli::migrate {

inline constexpr unsigned ranges_per_part = 64;  // a power of two

// Returns the i-th of the equal parts of the ring, both ends included.
std::pair<int64_t, int64_t> range_of(unsigned i);

struct Task {
  size_t part = 0;
  unsigned range = 0;
  std::optional<base::Bytes> paging_state;  // continues after it
};

class Ranges {
 public:
  Ranges(const std::vector<Part>& parts, copy::Journal& journal, copy::Progress& progress);

  // Returns nullopt when no range is left, or after stop() or interrupt().
  std::optional<Task> next();
  // All rows up to this paging state are acknowledged; without one, the range is complete. `share` is how
  // much of the range lies before it, from 0 to 1.
  void advance(const Task& task, const std::optional<base::Bytes>& paging_state, double share, uint64_t rows,
               uint64_t bytes);
  void stop(const base::Error& error);
  // Workers complete the pages that they are writing, and end.
  void interrupt() { is_interrupted_ = true; }
  base::Status save();

  std::optional<base::Error> error() const;
  const std::atomic<bool>& is_stopped() const { return is_stopped_; }
  bool is_interrupted() const { return is_interrupted_; }
  uint64_t rows() const;                                // Returns the rows of this run and of earlier runs.
  uint64_t new_rows() const;                            // of this run
  uint64_t resumed_ranges() const { return resumed_; }  // ranges that earlier runs had completed
  size_t count() const { return parts_.size() * ranges_per_part; }

 private:
  using Clock = std::chrono::steady_clock;
  struct RangeState {
    bool is_done = false;
    double share = 0;
    std::string paging_state;  // in hexadecimal
  };
  struct PartState {
    std::vector<RangeState> ranges;
    uint64_t rows = 0;
  };

  void load(size_t part) SIBYL_REQUIRES(mutex_);
  base::Status save_locked() SIBYL_REQUIRES(mutex_);

  const std::vector<Part>& parts_;
  copy::Journal& journal_;
  copy::Progress& progress_;
  mutable base::Mutex mutex_;
  std::vector<PartState> states_ SIBYL_GUARDED_BY(mutex_);
  size_t next_ SIBYL_GUARDED_BY(mutex_) = 0;  // part * ranges_per_part + range
  uint64_t rows_ SIBYL_GUARDED_BY(mutex_) = 0, new_rows_ SIBYL_GUARDED_BY(mutex_) = 0,
                 bytes_ SIBYL_GUARDED_BY(mutex_) = 0;
  uint64_t resumed_ = 0;
  double done_weight_ SIBYL_GUARDED_BY(mutex_) = 0, total_weight_ = 0;
  Clock::time_point saved_ SIBYL_GUARDED_BY(mutex_) = Clock::now();
  std::optional<base::Error> error_ SIBYL_GUARDED_BY(mutex_);
  std::atomic<bool> is_stopped_ = false, is_interrupted_ = false;
};

}  // namespace sibyl::cli::migrate
