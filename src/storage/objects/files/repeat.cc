#include "storage/objects/files/repeat.h"

#include <algorithm>
#include <thread>

namespace sibyl::storage::objects {
namespace {

using SteadyClock = std::chrono::steady_clock;

// The pause before the next attempt. Storage that answers at once with an error must not be flooded.
std::chrono::milliseconds pause_after(int attempts) {
  constexpr int max_millis = 200;
  return std::chrono::milliseconds(std::min(attempts * attempts, max_millis));
}

template <typename Send, typename Get>
auto repeat_until_known(std::chrono::milliseconds patience, const Send& send, const Get& reply_of) {
  const auto deadline = SteadyClock::now() + patience;
  for (int attempts = 0;; ++attempts) {
    auto answer = send();
    const Reply& reply = reply_of(answer);
    if (reply.outcome != Outcome::unknown || reply.is_fenced() || SteadyClock::now() >= deadline)
      return answer;
    std::this_thread::sleep_for(pause_after(attempts));
  }
}

}  // namespace

Reply repeat(ObjectStore& store, const std::string& object, const Mutation& mutation,
             std::chrono::milliseconds patience) {
  return repeat_until_known(
      patience, [&] { return Blocking(store).mutate(object, mutation); },
      [](const Reply& reply) -> const Reply& { return reply; });
}

ReadReply repeat_read(ObjectStore& store, const std::string& object, const Read& what,
                      std::chrono::milliseconds patience) {
  return repeat_until_known(
      patience, [&] { return Blocking(store).read(object, what); },
      [](const ReadReply& answer) -> const Reply& { return answer.reply; });
}

}  // namespace sibyl::storage::objects
