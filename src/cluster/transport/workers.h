// The handlers of calls, and the threads that run them.
#pragma once

#include <array>
#include <cstddef>
#include <deque>
#include <memory>
#include <thread>
#include <vector>

#include "base/mutex.h"
#include "cluster/peers.h"

namespace sibyl::cluster {

// Thread-safe.
class Workers {
 public:
  Workers() = default;
  // Waits for handlers that run. Drops waiting calls without running them.
  ~Workers();

  // As in PeerService.
  void handle(Method method, PeerService::Handler handler, size_t threads);
  // Returns false if the method has no handler, or too many calls wait.
  bool submit(Method method, PeerService::Call call, PeerService::Answer& answer);

 private:
  struct Job {
    PeerService::Call call;
    PeerService::Answer answer;
  };
  // One handler and its threads.
  class Crew;

  base::Mutex mutex_;
  std::array<std::shared_ptr<Crew>, method_count> crews_ SIBYL_GUARDED_BY(mutex_);
};

}  // namespace sibyl::cluster
