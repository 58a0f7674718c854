// Compares token ranges of source and target by checksums, and finds the rows that differ.
//
// A checksum covers keys, values and write times, and which cells expire. It does not cover their remaining
// time to live. Rows that differ are read again, because clients may write to both sides meanwhile.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "cli/migrate/page_reader.h"
#include "cli/migrate/ranges.h"

namespace sibyl::cli::migrate {

// Collects the rows that differ. Thread-safe.
class Differences {
 public:
  void add(const std::string& row, const std::string& what) SIBYL_EXCLUDES(mutex_);
  void count_range(bool is_equal) SIBYL_EXCLUDES(mutex_);
  uint64_t rows() const SIBYL_EXCLUDES(mutex_);
  // Lines that list the first differences, or an empty text.
  std::string text() const SIBYL_EXCLUDES(mutex_);

 private:
  mutable base::Mutex mutex_;
  std::vector<std::string> listed_ SIBYL_GUARDED_BY(mutex_);
  uint64_t rows_ SIBYL_GUARDED_BY(mutex_) = 0,
                 different_ranges_ SIBYL_GUARDED_BY(mutex_) = 0, ranges_ SIBYL_GUARDED_BY(mutex_) = 0;
};

class Verifier {
 public:
  Verifier(const ReaderOptions& source, const ReaderOptions& target, const std::vector<Part>& parts,
           Ranges& ranges, Differences& differences)
      : source_(source), target_(target), parts_(parts), ranges_(ranges), differences_(differences) {}

  // Compares ranges until none is left.
  void run();

 private:
  struct Digest {
    uint64_t sum = 0, rows = 0, bytes = 0;
  };
  struct RowDigest {
    uint64_t values = 0, all = 0;
  };
  using RowDigests = std::map<base::Bytes, RowDigest>;  // digests by the encoded key of the row

  base::Status compare(const Task& task);
  static base::Result<Digest> digest_of(PageReader& reader, const Part& part, const Task& task);
  static base::Result<RowDigests> rows_of(PageReader& reader, const Part& part, const Task& task);
  base::Status compare_rows(const Task& task);
  // Reads the row on both sides, several times if it differs.
  base::Status compare_row(const Part& part, const base::Bytes& key);

  PageReader source_, target_;
  const std::vector<Part>& parts_;
  Ranges& ranges_;
  Differences& differences_;
};

}  // namespace sibyl::cli::migrate
