// Lists the data that a migration could not carry over, and why. Thread-safe.
#pragma once

#include <string>
#include <vector>

#include "base/mutex.h"
#include "base/result.h"

namespace sibyl::cli::migrate {

class Report {
 public:
  explicit Report(uint64_t max_rejected) : max_rejected_(max_rejected) {}

  // Adds data that was not carried over, which the exit status shows.
  void add_loss(const std::string& what, const std::string& why) SIBYL_EXCLUDES(mutex_);
  // Adds a remark. No data was lost.
  void add_note(const std::string& text) SIBYL_EXCLUDES(mutex_);
  // Adds a row that could not be written. Fails if there are too many.
  base::Status reject(const std::string& row, const std::string& why) SIBYL_EXCLUDES(mutex_);
  void count_only_key() SIBYL_EXCLUDES(mutex_);
  void count_unknown_times() SIBYL_EXCLUDES(mutex_);
  void count_replaced_list() SIBYL_EXCLUDES(mutex_);

  bool has_losses() const SIBYL_EXCLUDES(mutex_);
  // The report's lines, or an empty text if there is nothing to report.
  std::string text() const SIBYL_EXCLUDES(mutex_);

 private:
  mutable base::Mutex mutex_;
  const uint64_t max_rejected_;
  std::vector<std::string> losses_ SIBYL_GUARDED_BY(mutex_), notes_ SIBYL_GUARDED_BY(mutex_),
      rejected_rows_ SIBYL_GUARDED_BY(mutex_);
  uint64_t rejected_ SIBYL_GUARDED_BY(mutex_) = 0, only_key_ SIBYL_GUARDED_BY(mutex_) = 0,
                     unknown_times_ SIBYL_GUARDED_BY(mutex_) = 0,
                     replaced_lists_ SIBYL_GUARDED_BY(mutex_) = 0;
};

}  // namespace sibyl::cli::migrate
