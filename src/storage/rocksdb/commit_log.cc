#include "storage/rocksdb/commit_log.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <random>

#include "base/file.h"
#include "storage/rocksdb/crc32c.h"
#include "storage/rocksdb/log_format.h"

namespace sibyl::storage::rocksdb {
namespace {

using base::BytesView;

// Describes what a segment contains after a broken group.
struct Beyond {
  bool has_groups = false;         // true: this segment has complete groups
  bool was_broken_synced = false;  // true: a later group shows that the broken group had been synced
};

// Every offset is checked, and the bytes may contain anything that a client has written. Therefore each byte
// is hashed only once, however many offsets look like groups and however long these are.
Beyond scan_beyond(BytesView bytes, uint64_t broken, uint64_t salt) {
  Beyond beyond;
  std::optional<Crc32cOfRuns> checksums;
  for (uint64_t offset = broken + 8; offset + group_header_size <= bytes.size(); offset += 8) {
    const char* header = bytes.data() + offset;
    const auto synced = take_fixed<uint64_t>(header + 8);
    if (synced > offset || (synced <= broken && beyond.has_groups)) continue;
    const BytesView group = group_at(bytes, offset);
    if (group.empty()) continue;
    if (!checksums) checksums.emplace(bytes);
    const uint32_t crc =
        checksums->run(header_crc(salt, offset, header), offset + group_header_size, group.size());
    if (take_fixed<uint32_t>(header) != crc) continue;
    beyond.has_groups = true;
    beyond.was_broken_synced = synced > broken;
    if (beyond.was_broken_synced) break;
  }
  return beyond;
}

// Returns the incomplete group at `offset`, behind the last complete one. Returns nullopt if the bytes there
// are zero or cannot be the start of a group.
std::optional<CommitLog::Recovered::Incomplete> incomplete_group(std::string path, BytesView bytes,
                                                                 uint64_t offset) {
  if (offset + group_header_size > bytes.size()) return std::nullopt;
  const BytesView header = bytes.substr(offset, group_header_size);
  if (header.find_first_not_of('\0') == BytesView::npos) return std::nullopt;
  const auto size = take_fixed<uint32_t>(header.data() + 4);
  // A file that was cut ends inside the group. Old bytes of a reused segment are unlikely to pass this test.
  if (size == 0 || take_fixed<uint64_t>(header.data() + 8) > offset) return std::nullopt;
  return CommitLog::Recovered::Incomplete{std::move(path), offset, size};
}

bool read_file(int file, base::Bytes& bytes) {
  struct stat status{};
  if (::fstat(file, &status) != 0) return false;
  bytes.resize(static_cast<size_t>(status.st_size));
  size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t got = ::pread(file, bytes.data() + done, bytes.size() - done, static_cast<off_t>(done));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    done += static_cast<size_t>(got);
  }
  return true;
}

}  // namespace

base::Result<std::unique_ptr<CommitLog>> CommitLog::open(Options options, const Replay& replay) {
  std::unique_ptr<CommitLog> log(new CommitLog(std::move(options)));
  SIBYL_TRY(log->recover(replay));
  return log;
}

CommitLog::~CommitLog() {
  for (const auto* files : {&segments_, &spares_})
    for (const Segment& segment : *files) ::close(segment.file);
  if (pending_) ::close(pending_->file);
}

base::Status CommitLog::recover(const Replay& replay) {
  std::vector<SegmentHeader> headers;
  std::vector<std::string> leftovers;
  SIBYL_TRY(open_segments(headers, leftovers));
  SIBYL_TRY(check_mark());
  // The leftovers are removed only now, because a missing segment may be among them.
  for (const std::string& path : leftovers) ::unlink(path.c_str());
  for (size_t i = 0; i < headers.size(); ++i) {
    const bool last = i + 1 == headers.size();
    const auto expected_end = last ? std::nullopt : std::optional(headers[i + 1].previous_end);
    SIBYL_ASSIGN(end_, replay_segment(segments_[i], expected_end, replay));
    replay.end_of_segment(segments_[i].number);
  }
  synced_ = 0;
  count_bytes();
  // Anything beyond the last complete group was never committed, and a new group must not end right before
  // it. The sync also makes sure that groups that were only in the page cache are on the device before
  // anything depends on them.
  if (segments_.empty()) {
    if (mark_.last_segment() > 0) recovered_.missing_directory = options_.directory;
    // If the missing segments return, the mark shows that they are older than the new ones.
    next_number_ = mark_.last_segment() + 1;
    return {};
  }
  must_undo_ = true;
  next_number_ = segments_.back().number + 1;
  return sync();
}

// Opens the needed segments in order and removes the others. `leftovers` receives spare and unfinished files.
base::Status CommitLog::open_segments(std::vector<SegmentHeader>& headers,
                                      std::vector<std::string>& leftovers) {
  std::vector<uint64_t> numbers;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(options_.directory, error)) {
    uint64_t number = 0;
    if (log_segment_number(entry.path().filename().string(), number))
      numbers.push_back(number);
    else if (entry.path().extension() == ".spare")
      leftovers.push_back(entry.path().string());
  }
  if (error) return failed("read the directory", error.value());
  std::sort(numbers.rbegin(), numbers.rend());
  uint64_t oldest = 0;
  for (const uint64_t number : numbers) {
    if (!segments_.empty() && number < oldest) {
      ::unlink(path_of(number).c_str());
      continue;
    }
    if (!segments_.empty() && number + 1 != segments_.front().number)
      return damaged(segments_.front().number - 1, "it is missing");
    Segment segment{number, ::open(path_of(number).c_str(), O_RDWR | O_CLOEXEC)};
    if (segment.file < 0) return failed("open a segment", errno);
    segments_.push_front(segment);
    char bytes[segment_header_size];
    const ssize_t got = ::pread(segment.file, bytes, sizeof bytes, 0);
    SegmentHeader header;
    const std::string wrong = header.decode({bytes, got < 0 ? 0 : static_cast<size_t>(got)});
    if (!wrong.empty()) return damaged(number, wrong);
    if (header.number != number) return damaged(number, fmt::format("its header says {}", header.number));
    if (segments_.size() == 1) oldest = header.oldest;
    struct stat status{};
    if (::fstat(segment.file, &status) != 0) return failed("open a segment", errno);
    segments_.front().size = segments_.front().written = static_cast<uint64_t>(status.st_size);
    segments_.front().salt = header.salt;
    segments_.front().oldest = header.oldest;
    headers.insert(headers.begin(), header);
  }
  if (!segments_.empty() && segments_.front().number > oldest) return damaged(oldest, "it is missing");
  return {};
}

// Returns the end of the segment's groups.
base::Result<uint64_t> CommitLog::replay_segment(const Segment& segment, std::optional<uint64_t> expected_end,
                                                 const Replay& replay) {
  base::Bytes bytes;
  if (!read_file(segment.file, bytes)) return base::fail(failed("read a segment", errno).error());
  uint64_t offset = segment_header_size;
  while (!expected_end || offset < *expected_end) {
    BytesView group;
    if (!read_group(bytes, offset, segment.salt, group)) break;
    SIBYL_TRY(replay.group(group));
    ++recovered_.groups;
    recovered_.bytes += group.size();
    offset = aligned(offset + group_header_size + group.size());
  }
  const Beyond beyond = expected_end ? Beyond{} : scan_beyond(bytes, offset, segment.salt);
  must_start_segment_ = beyond.has_groups;
  ++recovered_.segments;
  const bool was_synced = beyond.was_broken_synced || mark_.synced(segment.salt) > offset;
  if (expected_end ? offset != *expected_end : was_synced)
    return base::fail(
        damaged(segment.number, fmt::format("the group at byte {} was acknowledged and is broken", offset))
            .error());
  if (!expected_end) recovered_.incomplete = incomplete_group(path_of(segment.number), bytes, offset);
  return offset;
}

// The first sync of a reserved block changes the metadata of the file system, and takes twice the CPU and
// several times the time of any later one. Therefore zeros are written beyond the group that ends at `end`,
// for many blocks at a time. Reserved blocks read as zeros too, so this changes nothing for recovery. After
// an error, only this advantage is lost.
void CommitLog::write_ahead(Segment& segment, uint64_t end) const {
  static std::array<char, 512 << 10> zeros;  // never written to, so it takes no memory
  if (end <= segment.written) return;
  const uint64_t size = std::min<uint64_t>(zeros.size(), segment.size - std::min(segment.size, end));
  if (size > 0) (void)options_.disk->write(segment.file, {zeros.data(), size}, {}, end);
  segment.written = end + size;
}

int CommitLog::write_group(const Segment& segment, uint64_t offset, uint64_t synced, BytesView group) const {
  char header[group_header_size];
  put_fixed(header + 4, static_cast<uint32_t>(group.size()));
  put_fixed(header + 8, synced);
  put_fixed(header, group_crc(segment.salt, offset, header, group));
  const uint64_t end = offset + group_header_size + group.size();
  const uint64_t with_zeros = aligned(end) + group_header_size;
  constexpr size_t max_copied = 256 << 10;  // Larger groups are not copied, because another one follows soon.
  if (group.size() > max_copied || with_zeros > segment.size)
    return options_.disk->write(segment.file, {header, sizeof header}, group, offset);
  base::Bytes padded;
  padded.reserve(with_zeros - offset);
  padded.append(group).append(with_zeros - end, '\0');
  return options_.disk->write(segment.file, {header, sizeof header}, padded, offset);
}

base::Status CommitLog::append(BytesView group, bool durable) {
  const uint64_t needed = group_header_size + group.size();
  SIBYL_TRY(ready_for(needed));
  Segment& segment = segments_.back();
  int error = write_group(segment, end_, synced_, group);
  if (error == 0 && durable) write_ahead(segment, aligned(end_ + needed) + group_header_size);
  if (error == 0 && durable) {
    error = options_.disk->sync(segment.file);
    segment.sync_failed = error != 0;
  }
  if (error != 0) {
    must_undo_ = true;
    (void)clear_last_group();
    return failed("write", error);
  }
  last_begin_ = end_;
  end_ = aligned(end_ + needed);
  if (durable) synced_ = end_;
  return {};
}

base::Status CommitLog::undo() {
  end_ = last_begin_;
  synced_ = std::min(synced_, end_);
  must_undo_ = true;
  return clear_last_group();
}

base::Status CommitLog::sync() {
  if (segments_.empty() || synced_ == end_) return {};
  Segment& segment = segments_.back();
  if (segment.sync_failed) return start_segment(0, false);
  if (const int error = options_.disk->sync(segment.file); error != 0) {
    segment.sync_failed = true;
    return failed("sync", error);
  }
  synced_ = end_;
  return {};
}

void CommitLog::note_synced() {
  if (!segments_.empty() && !sync_failed()) mark_.note_synced(segments_.back().salt, synced_);
}

base::Status CommitLog::ready_for(uint64_t needed) {
  if (needed > std::numeric_limits<uint32_t>::max()) return failed("write", EFBIG);
  if (pending_) SIBYL_TRY(publish());
  if (must_undo_ && !sync_failed()) SIBYL_TRY(clear_last_group());
  if (segments_.empty() || sync_failed() || must_start_segment_ || end_ + needed > segments_.back().size)
    SIBYL_TRY(start_segment(needed, false));
  return set_mark(segment());
}

// Clears the header at the end of the groups. If that fails, or if the segment is not trusted, a new segment
// records that the old one ends before it.
base::Status CommitLog::clear_last_group() {
  Segment& segment = segments_.back();
  static constexpr char nothing[group_header_size] = {};
  const bool may_begin_here = end_ + group_header_size <= segment.size;
  int error = 0;
  if (may_begin_here) error = options_.disk->write(segment.file, {nothing, sizeof nothing}, {}, end_);
  if (may_begin_here && error == 0) error = options_.disk->sync(segment.file);
  segment.sync_failed = segment.sync_failed || error != 0;
  if (segment.sync_failed) return start_segment(0, false);
  must_undo_ = false;
  if (may_begin_here) synced_ = end_;
  return {};
}

base::Status CommitLog::start_segment(uint64_t needed, bool forget_older) {
  if (pending_) return publish();
  std::vector<base::Bytes> moved;
  uint64_t previous_end = end_;
  if (forget_older && !segments_.empty()) {
    released_ = segments_.back().number;
  } else if (sync_failed()) {
    SIBYL_ASSIGN(moved, unsynced_groups());
    previous_end = std::max(synced_, uint64_t{segment_header_size});
  } else {
    SIBYL_TRY(sync());
  }
  Segment segment;
  segment.number = next_number_;
  std::string path;
  uint64_t size = aligned(segment_header_size + needed);
  for (const base::Bytes& group : moved) size += aligned(group_header_size + group.size());
  if (const int error = make_file(segment, size, path); error != 0)
    return failed("make a segment", error, size);

  SegmentHeader header{segment.number, segment.salt, previous_end, segment.number};
  for (const Segment& older : segments_)
    if (older.number > released_) header.oldest = std::min(header.oldest, older.number);
  segment.oldest = header.oldest;
  // The zeros show that no group follows: the file may hold the groups of an earlier segment.
  char bytes[segment_header_size + group_header_size] = {};
  header.encode(bytes);
  int error = options_.disk->write(segment.file, {bytes, sizeof bytes}, {}, 0);
  pending_end_ = segment_header_size;
  for (const base::Bytes& group : moved) {
    if (error == 0) error = write_group(segment, pending_end_, 0, group);
    pending_end_ = aligned(pending_end_ + group_header_size + group.size());
  }
  if (error == 0) error = options_.disk->sync(segment.file);
  if (error == 0 && ::rename(path.c_str(), path_of(segment.number).c_str()) != 0) error = errno;
  if (error != 0) {
    ::unlink(path.c_str());
    ::close(segment.file);
    return failed("make a segment", error);
  }
  pending_ = segment;
  return publish();
}

// Returns the groups of the current segment that are not known to be on the device. They can be read, because
// they are still in the page cache.
base::Result<std::vector<base::Bytes>> CommitLog::unsynced_groups() const {
  std::vector<base::Bytes> groups;
  const Segment& segment = segments_.back();
  uint64_t offset = std::max(synced_, uint64_t{segment_header_size});
  if (offset >= end_) return groups;
  base::Bytes bytes;
  if (!read_file(segment.file, bytes)) return base::fail(failed("read a segment again", errno).error());
  while (offset < end_) {
    BytesView group;
    if (!read_group(bytes, offset, segment.salt, group))
      return base::fail(failed("read a segment again", EIO).error());
    groups.emplace_back(group);
    offset = aligned(offset + group_header_size + group.size());
  }
  return groups;
}

// Once a segment has its name, recovery may find it after a crash, and its header determines the end of the
// previous segment. Nothing more may be written to the previous segment, even if the new name is not on the
// device yet.
base::Status CommitLog::publish() {
  if (const int error = sync_directory(); error != 0) return failed("make a segment", error);
  const bool holds_moved_groups = pending_end_ > segment_header_size;
  if (holds_moved_groups) SIBYL_TRY(set_mark(pending_->number));
  segments_.push_back(*pending_);
  pending_.reset();
  ++next_number_;
  end_ = synced_ = last_begin_ = pending_end_;
  must_undo_ = must_start_segment_ = false;
  retire_released();
  count_bytes();
  return {};
}

// Creates a file with space for at least `needed` bytes, not yet under its final name.
int CommitLog::make_file(Segment& segment, uint64_t needed, std::string& path) {
  std::random_device random;
  segment.salt = (static_cast<uint64_t>(random()) << 32) | random();
  for (auto spare = spares_.begin(); spare != spares_.end(); ++spare) {
    if (spare->size < needed) continue;
    path = spare_path(spare->number);
    segment.file = spare->file;
    segment.size = spare->size;
    segment.written = spare->written;
    spares_.erase(spare);
    return 0;
  }
  path = spare_path(segment.number);
  segment.file = ::open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (segment.file < 0) return errno;
  const int error = allocate(segment, needed);
  if (error != 0) {
    ::close(segment.file);
    ::unlink(path.c_str());
  }
  return error;
}

// Allocates a whole segment or, on a nearly full device, as much as is available.
int CommitLog::allocate(Segment& segment, uint64_t needed) const {
  constexpr uint64_t min_bytes = 64 << 10;
  const auto is_full = [](int error) { return error == ENOSPC || error == EDQUOT; };
  const uint64_t least = std::max(needed, std::min(min_bytes, options_.segment_bytes));
  segment.size = std::max(options_.segment_bytes, needed);
  int error = options_.disk->allocate(segment.file, segment.size);
  while (is_full(error) && segment.size > least) {
    segment.size = std::max(least, aligned(segment.size / 2));
    error = options_.disk->allocate(segment.file, segment.size);
  }
  if (is_full(error) && options_.space != nullptr && options_.space->release_reserve())
    error = options_.disk->allocate(segment.file, segment.size);
  return error;
}

void CommitLog::release(uint64_t number) {
  released_ = std::max(released_, number);
}

base::Status CommitLog::release_all() {
  if (segments_.empty()) return {};
  const bool is_new = segments_.size() == 1 && end_ == segment_header_size && !pending_ && !sync_failed() &&
                      !must_undo_ && !must_start_segment_;
  if (!is_new) SIBYL_TRY(start_segment(0, true));
  return set_mark(0);
}

base::Status CommitLog::trim() {
  if (segments_.size() > 1 && segments_.front().number <= released_) SIBYL_TRY(start_segment(0, false));
  for (const Segment& spare : spares_) {
    ::unlink(spare_path(spare.number).c_str());
    ::close(spare.file);
  }
  spares_.clear();
  count_bytes();
  return {};
}

base::Status CommitLog::set_mark(uint64_t number) {
  if (mark_.segment() == number && mark_.last_segment() >= segment()) return {};
  const int error = mark_.set(number, segment());
  return error == 0 ? base::Status() : failed("write its mark", error);
}

base::Status CommitLog::check_mark() {
  SIBYL_TRY(mark_.read());
  // A log that is not needed may be missing, but not be replaced by an older one.
  const uint64_t needed = segments_.empty() ? mark_.segment() : mark_.last_segment();
  if (needed <= segment()) return {};
  return base::fail(damaged(needed, "it is missing")
                        .error()
                        .with_hint(fmt::format(
                            "the store is not opened, because acknowledged writes would be lost; restore "
                            "the file, or remove {} to discard them",
                            mark_.path())));
}

// A segment is retired only after the header of a later one, on the device, declares it unnecessary. Recovery
// from the newest header still expects segments that were released after that header was written.
void CommitLog::retire_released() {
  while (segments_.size() > 1 && segments_.front().number < segments_.back().oldest) {
    const Segment segment = segments_.front();
    segments_.pop_front();
    const bool keep = spares_.size() < options_.kept_segments && segment.size == options_.segment_bytes &&
                      !segment.sync_failed;
    if (keep && ::rename(path_of(segment.number).c_str(), spare_path(segment.number).c_str()) == 0) {
      spares_.push_back(segment);
    } else {
      ::unlink(path_of(segment.number).c_str());
      ::close(segment.file);
    }
  }
}

void CommitLog::count_bytes() {
  uint64_t bytes = 0;
  for (const auto* files : {&segments_, &spares_})
    for (const Segment& segment : *files) bytes += segment.size;
  bytes_.store(bytes, std::memory_order_relaxed);
}

base::Status CommitLog::failed(const char* what, int error, uint64_t needed) const {
  std::string message =
      fmt::format("The commit log in {} failed to {}: {}", options_.directory, what, std::strerror(error));
  const bool is_full = error == ENOSPC || error == EDQUOT;
  if (is_full && needed != 0 && options_.space != nullptr)
    message += fmt::format(" ({} bytes are needed and {} bytes are free)", needed, options_.space->free());
  base::Error text(base::ErrorCode::write_failure, std::move(message));
  switch (error) {
    case ENOSPC:
    case EDQUOT:
      return base::fail(text.with_hint("free some disk space; writes resume by themselves"));
    case EROFS:
      return base::fail(
          text.with_hint("the file system is mounted read-only; writes resume when it is writable again"));
    default:
      return base::fail(text.with_hint("check the device's health; writes resume when it works again"));
  }
}

base::Status CommitLog::damaged(uint64_t number, const std::string& why) const {
  return base::fail(
      base::Error(base::ErrorCode::server,
                  fmt::format("The commit log is damaged: segment {}: {}", path_of(number), why))
          .with_hint(
              "the store is not opened, because acknowledged writes would be lost; restore the file, or "
              "recover the intact data with `sibyl recover`"));
}

std::string CommitLog::path_of(uint64_t number) const {
  return fmt::format("{}/{:012}.log", options_.directory, number);
}
std::string CommitLog::spare_path(uint64_t number) const {
  return fmt::format("{}/{:012}.spare", options_.directory, number);
}

int CommitLog::sync_directory() const {
  const base::File directory(options_.directory, O_RDONLY | O_DIRECTORY);
  return directory ? options_.disk->sync_names(directory.number()) : errno;
}

}  // namespace sibyl::storage::rocksdb
