#include "types/uuid.h"

#include <sys/random.h>

#include <array>
#include <atomic>
#include <cstring>

#include "base/check.h"
#include "types/calendar.h"
#include "types/value.h"

namespace sibyl::types {
namespace {

// 100 ns units from 1582-10-15 to 1970-01-01.
constexpr int64_t epoch_offset = 122'192'928'000'000'000;

void fill_random(void* out, size_t size) {
  auto* at = static_cast<char*>(out);
  while (size > 0) {
    const ssize_t got = getrandom(at, size, 0);
    if (got < 0) {
      SIBYL_CHECK(errno == EINTR);
      continue;
    }
    at += got;
    size -= static_cast<size_t>(got);
  }
}

// Random bytes for many UUIDs from one call to the kernel.
struct RandomPool {
  std::array<char, 512> bytes;
  size_t used = sizeof(bytes);

  void take(char* out, size_t size) {
    if (used + size > bytes.size()) {
      fill_random(bytes.data(), bytes.size());
      used = 0;
    }
    std::memcpy(out, bytes.data() + used, size);
    used += size;
  }
};

// The clock sequence and node of this process. Both are random, with the variant and the multicast bit that
// mark them as random.
uint64_t process_clock_and_node() {
  static const uint64_t value = [] {
    uint64_t random = 0;
    fill_random(&random, sizeof random);
    return (random & 0x3fff'ffff'ffff'ffffu) | 0x8000'0100'0000'0000u;
  }();
  return value;
}

Bytes make_time_uuid(int64_t hundred_nanos_since_1582, uint64_t low) {
  const auto time = static_cast<uint64_t>(hundred_nanos_since_1582) & 0x0fff'ffff'ffff'ffffu;
  Bytes uuid;
  uuid.reserve(16);
  base::append_big_endian(uuid, restore_time_high(time | (uint64_t{1} << 60)));
  base::append_big_endian(uuid, low);
  return uuid;
}

// Overflows wrap as in Java: milliseconds far from now have no UUID of their own.
int64_t time_of_millis(int64_t unix_millis) {
  return static_cast<int64_t>(static_cast<uint64_t>(unix_millis) * 10'000u +
                              static_cast<uint64_t>(epoch_offset));
}

int64_t uuid_time(BytesView uuid) {
  return static_cast<int64_t>(reorder_time_high(base::read_big_endian<uint64_t>(uuid)) &
                              0x0fff'ffff'ffff'ffffu);
}

}  // namespace

Bytes random_uuid() {
  thread_local RandomPool pool;
  Bytes uuid(16, '\0');
  pool.take(uuid.data(), uuid.size());
  uuid[6] = static_cast<char>((uuid[6] & 0x0f) | 0x40);
  uuid[8] = static_cast<char>((uuid[8] & 0x3f) | 0x80);
  return uuid;
}

Bytes time_uuid(int64_t hundred_nanos_since_1582) {
  return make_time_uuid(hundred_nanos_since_1582, process_clock_and_node());
}

Bytes next_time_uuid(int64_t now_micros) {
  static std::atomic<int64_t> last{0};
  const int64_t now = now_micros * 10 + epoch_offset;
  int64_t previous = last.load(std::memory_order_relaxed);
  int64_t chosen = 0;
  do {
    chosen = now > previous ? now : previous + 1;
  } while (!last.compare_exchange_weak(previous, chosen, std::memory_order_relaxed));
  return time_uuid(chosen);
}

int64_t uuid_unix_millis(BytesView timeuuid) {
  // Rounds towards 1970, like Java's division.
  return (uuid_time(timeuuid) - epoch_offset) / 10'000;
}
int64_t uuid_unix_micros(BytesView timeuuid) {
  return floor_divide(uuid_time(timeuuid) - epoch_offset, 10);
}
int uuid_version(BytesView uuid) {
  return static_cast<unsigned char>(uuid[6]) >> 4;
}

Bytes min_time_uuid(int64_t unix_millis) {
  return make_time_uuid(time_of_millis(unix_millis), 0x8080'8080'8080'8080u);
}

Bytes max_time_uuid(int64_t unix_millis) {
  const auto next = static_cast<int64_t>(static_cast<uint64_t>(unix_millis) + 1);
  return make_time_uuid(time_of_millis(next) - 1, 0x7f7f'7f7f'7f7f'7f7fu);
}

}  // namespace sibyl::types
