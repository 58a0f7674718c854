#include "storage/rocksdb/pacing/compaction_pacer.h"

#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <thread>
#include <utility>

namespace sibyl::storage::rocksdb {
namespace {

using std::chrono::nanoseconds;

constexpr int pause_share = 8;  // a busy processor gives a compaction one ninth of its time
constexpr std::chrono::milliseconds max_pause{100};
// A thread always waits a little, for example for its own file writes.
constexpr int min_waiting_share = 16;

}  // namespace

// schedstat also has the time that the thread ran, but only up to the last tick.
std::optional<ThreadTimes> times_of_this_thread() {
  const int file = ::open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
  if (file < 0) return std::nullopt;
  std::array<char, 64> text{};
  const ssize_t size = ::read(file, text.data(), text.size());
  ::close(file);
  if (size <= 0) return std::nullopt;
  const char *const begin = text.data(), *const end = begin + size;
  const char* const second = std::find(begin, end, ' ');
  int64_t waited = 0;
  if (second == end || std::from_chars(second + 1, end, waited).ec != std::errc()) return std::nullopt;
  timespec ran{};
  if (::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ran) != 0) return std::nullopt;
  return ThreadTimes{std::chrono::seconds(ran.tv_sec) + nanoseconds(ran.tv_nsec), nanoseconds(waited)};
}

nanoseconds pause_after(const ThreadTimes& elapsed) {
  if (elapsed.waited * min_waiting_share < elapsed.ran) return nanoseconds(0);
  return std::min<nanoseconds>(elapsed.ran * pause_share, max_pause);
}

void CompactionPacer::Request(int64_t, ::rocksdb::Env::IOPriority priority, ::rocksdb::Statistics*,
                              OpType type) {
  if (priority != ::rocksdb::Env::IO_LOW || type != OpType::kWrite) return;
  thread_local std::optional<ThreadTimes> previous;
  const auto now = times_of_this_thread();
  const auto before = std::exchange(previous, now);
  if (!now || !before || is_urgent_()) return;
  std::this_thread::sleep_for(pause_after({now->ran - before->ran, now->waited - before->waited}));
}

}  // namespace sibyl::storage::rocksdb
