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

ChainReply repeat_or_cancel(ObjectStore& store, const std::string& object, const Mutation& mutation,
                            const Mutation& cancel, std::chrono::milliseconds patience) {
  bool is_in_doubt = false;
  const Reply reply = repeat_until_known(
      patience,
      [&] {
        const Reply attempt = Blocking(store).mutate(object, mutation);
        is_in_doubt |= attempt.outcome == Outcome::unknown;
        return attempt;
      },
      [](const Reply& attempt) -> const Reply& { return attempt; });
  if (!is_in_doubt || !reply.is_refused(Reason::full)) return {reply, false, is_in_doubt};
  const Reply cancelled = repeat(store, object, cancel, patience);
  return cancelled.is_done() ? ChainReply{reply, true, true} : ChainReply{cancelled, false, true};
}

ReadReply repeat_read(ObjectStore& store, const std::string& object, const Read& what,
                      std::chrono::milliseconds patience) {
  return repeat_until_known(
      patience, [&] { return Blocking(store).read(object, what); },
      [](const ReadReply& answer) -> const Reply& { return answer.reply; });
}

}  // namespace sibyl::storage::objects
