#include "base/memory.h"

#include <fmt/format.h>

#include <malloc.h>
#include <time.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "base/mutex.h"
#include "base/process.h"
#include "base/reservation.h"
#include "base/statement.h"

// A function of jemalloc, if the program uses it.
extern "C" int mallctl(const char*, void*, size_t*, void*, size_t) __attribute__((weak));

namespace sibyl::base {

namespace {

constexpr int64_t no_limit = std::numeric_limits<int64_t>::max();
constexpr int64_t report_step = 64 << 10;
// The bytes that a statement may allocate between two checks of the limits. Memory below the first check is
// never refused, so small statements still run on a server that is out of memory.
constexpr int64_t check_step = 256 << 10;
// The bytes that a refused statement may still allocate to build its error.
constexpr int64_t error_allowance = 1 << 20;

// With malloc of glibc, a statement that used more than this returns free memory to the system when it ends.
// Otherwise malloc would keep it for the thread. jemalloc returns it in the background.
constexpr int64_t return_threshold = 8 << 20;

thread_local int64_t peak_used = 0;  // the statement's largest use at any check

constinit std::atomic<int64_t> total_in_use = 0;
constinit std::atomic<int64_t> total_limit = no_limit, statement_limit = no_limit, resident_limit = no_limit;

int64_t coarse_milliseconds() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
  return now.tv_sec * 1000 + now.tv_nsec / 1'000'000;
}

void return_free_memory() {
  static Mutex returning;
  if (!returning.try_lock()) return;
  if (mallctl != nullptr) {
    static_cast<void>(mallctl("arena.4096.purge", nullptr, nullptr, nullptr, 0));  // 4096: all arenas
  } else {
#ifdef __GLIBC__
    malloc_trim(0);
#endif
  }
  returning.unlock();
}

// AddressSanitizer keeps freed blocks and its own tables resident.
#if defined(__SANITIZE_ADDRESS__)
constexpr bool is_resident_memory_ours = false;
#else
constexpr bool is_resident_memory_ours = true;
#endif

// Measures at most once in a few milliseconds. Returning free pages takes longer and happens less often. A
// statement on a thread that serves other clients leaves the thread first (count_work()).
bool exceeds_resident_limit() {
  constexpr int64_t measure_interval = 8, return_interval = 100;
  constexpr int64_t return_nanos = 50'000'000;  // 256 MiB of small pages
  static std::atomic<int64_t> measured_at = 0, returned_at = 0;
  static std::atomic<bool> is_exceeded = false;
  const int64_t limit = resident_limit.load(std::memory_order_relaxed);
  if (limit == no_limit || !is_resident_memory_ours) return false;
  const int64_t now = coarse_milliseconds();
  int64_t last = measured_at.load(std::memory_order_relaxed);
  if (now - last < measure_interval || !measured_at.compare_exchange_strong(last, now))
    return is_exceeded.load();
  bool exceeds = own_resident_bytes() > limit;
  if (exceeds && now - returned_at.load(std::memory_order_relaxed) >= return_interval) {
    count_work(return_nanos);
    returned_at.store(now, std::memory_order_relaxed);
    return_free_memory();
    exceeds = own_resident_bytes() > limit;
  }
  is_exceeded.store(exceeds);
  return exceeds;
}

std::string mebibytes(int64_t bytes) {
  return fmt::format("{} MiB", bytes >> 20);
}

Error too_much_for_statement(int64_t limit) {
  return Error(ErrorCode::invalid,
               fmt::format("The statement needs more than {} of memory", mebibytes(limit)))
      .with_hint("read smaller pages or fewer columns, write less at once, or raise max_statement_memory");
}

Error too_much_in_total(int64_t limit) {
  return Error(ErrorCode::overloaded,
               fmt::format("The server has reached its memory limit of {} for data and requests",
                           mebibytes(limit)))
      .with_hint("try again later, request less at once, or raise `memory`");
}

}  // namespace

void set_memory_limits(const MemoryLimits& limits) {
  total_limit.store(limits.total_bytes, std::memory_order_relaxed);
  statement_limit.store(limits.statement_bytes, std::memory_order_relaxed);
  resident_limit.store(limits.resident_bytes, std::memory_order_relaxed);
}

MemoryLimits memory_limits() {
  return {total_limit.load(std::memory_order_relaxed), statement_limit.load(std::memory_order_relaxed),
          resident_limit.load(std::memory_order_relaxed)};
}

int64_t memory_in_use() {
  return total_in_use.load(std::memory_order_relaxed);
}

MemoryReservation::MemoryReservation(size_t bytes) : bytes_(static_cast<int64_t>(bytes)) {
  total_in_use.fetch_add(bytes_, std::memory_order_relaxed);
}

MemoryReservation::~MemoryReservation() {
  if (bytes_ != 0) total_in_use.fetch_sub(bytes_, std::memory_order_relaxed);
}

bool MemoryReservation::fits() {
  return memory_in_use() <= total_limit.load(std::memory_order_relaxed);
}

bool MemoryReservation::wait_until_fits(std::chrono::milliseconds patience) {
  constexpr std::chrono::milliseconds interval{5};
  const auto deadline = std::chrono::steady_clock::now() + patience;
  while (!fits()) {
    if (std::chrono::steady_clock::now() >= deadline) return false;
    std::this_thread::sleep_for(interval);
  }
  return true;
}

namespace memory {

constinit thread_local ThreadState thread_state;

void report() {
  ThreadState& state = thread_state;
  int64_t change = std::exchange(state.unreported, 0);
  if (state.is_in_statement) {
    const int64_t small = std::max<int64_t>(state.used - state.used_in_large, 0);
    change += small - std::exchange(state.reported_small, small);
  } else {
    change -= std::exchange(state.reported_small, 0);
  }
  if (change != 0) total_in_use.fetch_add(change, std::memory_order_relaxed);
}

void count_large(int64_t bytes) {
  ThreadState& state = thread_state;
  state.used_in_large += bytes;
  state.unreported += bytes;
  if (state.unreported >= report_step || state.unreported <= -report_step) report();
}

void check_limits(size_t wanted) {
  ThreadState& state = thread_state;
  if (!state.is_in_statement || state.suspended != 0) return;
  peak_used = std::max(peak_used, state.used);
  const MemoryLimits limits = memory_limits();
  const int64_t total = limits.total_bytes, statement = limits.statement_bytes;
  const auto bytes = static_cast<int64_t>(wanted);
  const bool is_too_large = state.used > statement;
  // The total must not contain the bytes yet, because they are compared with the room that is left.
  state.used -= bytes;
  report();
  const bool has_room = memory_in_use() <= total - std::min(bytes, total);
  if (!is_too_large && has_room && !exceeds_resident_limit()) {
    state.used += bytes;
    state.check_at = std::min(state.used + check_step, statement);
    return;
  }
  state.check_at = state.used + error_allowance;
  throw StatementEnded(is_too_large ? too_much_for_statement(statement) : too_much_in_total(total));
}

}  // namespace memory

// --- Statements

namespace statement {

constinit thread_local ThreadState thread_state;

namespace {
constexpr int64_t work_between_checks = 1'000'000;
}

void ask_interrupt() {
  const Status status = thread_state.interrupt->check();
  thread_state.work_left = work_between_checks;
  memory::ThreadState& memory = memory::thread_state;
  // Freed memory may have left check_at far above `used`. Check again after at most check_step.
  if (memory.is_in_statement) memory.check_at = std::min(memory.check_at, memory.used + check_step);
  if (!status) throw StatementEnded(status.error());
}

}  // namespace statement

StatementScope::StatementScope(const Interrupt* interrupt)
    : outer_interrupt_(statement::thread_state.interrupt),
      outer_work_(statement::thread_state.work_left),
      is_outermost_(!memory::thread_state.is_in_statement) {
  if (interrupt != nullptr) statement::thread_state = {interrupt, statement::work_between_checks};
  if (!is_outermost_) return;
  memory::ThreadState& state = memory::thread_state;
  state.used = state.used_in_large = peak_used = 0;
  state.check_at = check_step;
  state.is_in_statement = true;
}

StatementScope::~StatementScope() {
  statement::thread_state = {outer_interrupt_, outer_work_};
  if (!is_outermost_) return;
  memory::ThreadState& state = memory::thread_state;
  state.check_at = no_limit;
  state.is_in_statement = false;
  if (state.reported_small != 0) memory::report();
  if (peak_used > return_threshold && mallctl == nullptr) return_free_memory();
}

}  // namespace sibyl::base
