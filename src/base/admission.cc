#include "base/admission.h"

#include "base/memory.h"
#include "base/statement.h"

namespace sibyl::base {
namespace {

// While one exists, the statement has allocated these bytes, and its limits apply also below UnlimitedMemory.
class ImaginedBlock {
 public:
  explicit ImaginedBlock(size_t bytes) : before_(memory::thread_state) {
    memory::ThreadState& state = memory::thread_state;
    state.suspended = 0;
    state.used += static_cast<int64_t>(bytes);
    state.used_in_large += static_cast<int64_t>(bytes);
  }
  ~ImaginedBlock() {
    memory::ThreadState& state = memory::thread_state;
    state.suspended = before_.suspended;
    state.used = before_.used;
    state.used_in_large = before_.used_in_large;
  }
  ImaginedBlock(const ImaginedBlock&) = delete;
  ImaginedBlock& operator=(const ImaginedBlock&) = delete;

 private:
  const memory::ThreadState before_;
};

}  // namespace

Status admit(size_t bytes, int64_t nanos, MemoryReservation* reserved) {
  try {
    count_work(nanos);
    if (!memory::thread_state.is_in_statement) return {};
    MemoryReservation reservation(bytes);
    const ImaginedBlock block(bytes);
    memory::check_limits(0);
    if (reserved != nullptr) *reserved = std::move(reservation);
    return {};
  } catch (const StatementEnded& ended) {
    return fail(ended.error());
  }
}

}  // namespace sibyl::base
