// Keeps the write timestamps of the successive owners of a shared store in order, although their clocks
// differ.
//
// A write without a client timestamp gets one from its server's clock. If the next owner's clock were behind,
// its acknowledged writes would lose against older ones. So an owner stores the highest timestamp that it may
// assign before it assigns any, and the next owner starts above it.
#pragma once

#include <memory>
#include <thread>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/result.h"
#include "execute/environment.h"
#include "storage/store.h"

namespace sibyl::engine {

class ReservedTimestamps {
 public:
  // Borrows all arguments. Makes `timestamps` start above the reservation in the store. Then makes a new
  // reservation, and keeps it ahead of the clock until this object is destroyed. Fails if the store cannot be
  // read or written.
  static base::Result<std::unique_ptr<ReservedTimestamps>> start(storage::Store& store,
                                                                 execute::TimestampSource& timestamps,
                                                                 base::Clock& clock);
  ~ReservedTimestamps();
  ReservedTimestamps(const ReservedTimestamps&) = delete;
  ReservedTimestamps& operator=(const ReservedTimestamps&) = delete;

 private:
  ReservedTimestamps(storage::Store& store, execute::TimestampSource& timestamps, base::Clock& clock)
      : store_(store), timestamps_(timestamps), clock_(clock) {}
  base::Status start();
  base::Status reserve(int64_t after);
  void run();

  storage::Store& store_;
  execute::TimestampSource& timestamps_;
  base::Clock& clock_;
  base::Mutex mutex_;
  base::CondVar wake_;
  bool is_stopping_ SIBYL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace sibyl::engine
