#include "cluster/peers.h"

#include <optional>
#include <utility>

#include "base/mutex.h"

namespace sibyl::cluster {

CallResult Peers::call(const MemberId& member, Method method, base::Bytes message, Time deadline) {
  struct Waiter {
    base::Mutex mutex;
    base::CondVar changed;
    std::optional<CallResult> result SIBYL_GUARDED_BY(mutex);
  };
  const auto waiter = std::make_shared<Waiter>();
  call(member, method, std::move(message), deadline, [waiter](CallResult result) {
    const base::MutexLock lock(waiter->mutex);
    waiter->result = std::move(result);
    waiter->changed.notify_one();
  });
  const base::MutexLock lock(waiter->mutex);
  while (!waiter->result) waiter->changed.wait(waiter->mutex);
  return std::move(*waiter->result);
}

}  // namespace sibyl::cluster
