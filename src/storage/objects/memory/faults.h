// Faults between a client and the object store, and their probabilities.
#pragma once

#include <cstdint>
#include <string>

namespace sibyl::storage::objects {

// What happens to one operation. All faults except `none` and `slow` are reported as unknown once the
// client's timeout has passed.
enum class Fault : uint8_t {
  none,
  lost_request,  // never applied
  lost_reply,    // applied, but the client gets no reply
  late,          // applied after the client has given up
  duplicated,    // applied at once and again later, and the client gets no reply
  slow,          // answered late, but in time
};

struct Faults {
  // Probabilities from 0 to 1, for mutations and locks. Other operations can only be lost or slow.
  double lost_request = 0, lost_reply = 0, late = 0, duplicated = 0, slow = 0;
  // Simulated times: the way to the storage and back, the delay of `slow`, and the client's timeout. A late
  // or duplicated mutation arrives up to max_late after the timeout.
  int64_t min_micros = 200, max_micros = 2'000;
  int64_t slow_micros = 500'000;
  int64_t timeout_micros = 10'000'000;
  int64_t max_late_micros = 60'000'000;
};

// Describes an operation, for tests that choose the fault of a particular one.
struct OperationInfo {
  enum class Kind : uint8_t {
    mutate,
    read,
    lock,
    unlock,
    read_lock,
    break_lock,
    watch,
    notify,
    fence,
    space
  };
  Kind kind = Kind::mutate;
  const std::string& client;
  const std::string& object;
};

// The number of times that each fault was injected.
struct FaultCounts {
  uint64_t operations = 0, lost_request = 0, lost_reply = 0, late = 0, duplicated = 0, slow = 0;
  uint64_t full = 0, fenced = 0;
};

}  // namespace sibyl::storage::objects
