// The clock is injected so that tests control the time.
#pragma once

#include <atomic>
#include <cstdint>

namespace sibyl::base {

// Thread-safe.
class Clock {
 public:
  virtual ~Clock() = default;
  // Microseconds since 1970. May go backwards, as wall clocks do.
  virtual int64_t now_micros() = 0;
  int64_t now_seconds() { return now_micros() / 1'000'000; }
};

class SystemClock final : public Clock {
 public:
  int64_t now_micros() override;
};

class ManualClock final : public Clock {
 public:
  explicit ManualClock(int64_t micros) : micros_(micros) {}
  int64_t now_micros() override { return micros_.load(); }
  void set_micros(int64_t micros) { micros_.store(micros); }
  void advance_seconds(int64_t seconds) { micros_.fetch_add(seconds * 1'000'000); }

 private:
  std::atomic<int64_t> micros_;
};

}  // namespace sibyl::base
