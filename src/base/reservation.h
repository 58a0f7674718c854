// Memory that counts towards the total (memory.h) before it is allocated.
//
// A check of the limits alone does not keep several threads from allocating what each of them was allowed.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace sibyl::base {

// Counts until it is destroyed, on any thread. Allocate the memory meanwhile: it is then counted twice for a
// short time.
class MemoryReservation {
 public:
  MemoryReservation() = default;
  // Does not check the limit.
  explicit MemoryReservation(size_t bytes);
  MemoryReservation(MemoryReservation&& other) noexcept : bytes_(std::exchange(other.bytes_, 0)) {}
  MemoryReservation& operator=(MemoryReservation&& other) noexcept {
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~MemoryReservation();

  // Returns true if the total, which includes this reservation, is within its limit.
  static bool fits();
  // Waits until fits(). Returns false after `patience`. While it waits, no statement gets more memory, because
  // the reservation counts. For threads that work in the background.
  static bool wait_until_fits(std::chrono::milliseconds patience);

 private:
  int64_t bytes_ = 0;
};

}  // namespace sibyl::base
