#include "cluster/routed/owner_calls.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

namespace sibyl::cluster {
namespace {

using base::Bytes;
using base::BytesView;
using SteadyClock = std::chrono::steady_clock;

constexpr char done_answer = 0, moved_answer = 1, failed_answer = 2;

Bytes encode_failure(const base::Error& error) {
  Bytes out(1, failed_answer);
  base::append_big_endian(out, static_cast<uint32_t>(error.code()));
  base::append_sized(out, error.message());
  base::append_sized(out, error.hint());
  return out;
}

base::Error decode_failure(BytesView bytes) {
  base::Reader reader(bytes);
  uint32_t code = 0;
  BytesView message, hint;
  if (!reader.big_endian(code) || !reader.sized(message) || !reader.sized(hint))
    return base::Error(base::ErrorCode::server, "An answer of another server cannot be read");
  return base::Error(static_cast<base::ErrorCode>(static_cast<int32_t>(code)), std::string(message))
      .with_hint(std::string(hint));
}

base::Error no_answer(uint32_t shard) {
  base::ErrorDetails details;
  details.code = base::ErrorCode::write_timeout;
  details.message = "Operation timed out - received only 0 responses.";
  details.hint = fmt::format("the owner of shard {} does not answer; `sibyl cluster status` shows it", shard);
  return base::Error(std::move(details));
}

}  // namespace

base::Result<Bytes> OwnerCalls::ask(BytesView key, const Bytes& message) {
  const uint32_t shard = of_.shards->shard_of(key);
  Bytes call;
  base::append_big_endian(call, shard);
  call += message;
  const auto deadline = SteadyClock::now() + of_.patience;
  std::optional<ShardOwner> owner = of_.routing.owner(shard);
  while (true) {
    if (owner && owner->is_here && of_.here.open_epoch(shard)) return base::fail(storage::not_here(shard));
    if (owner && !owner->is_here) {
      CallResult called = of_.peers.call(owner->member, Method::commit, call, deadline);
      if (called.is_answered() && !called.answer.empty()) {
        if (called.answer[0] == done_answer) return called.answer.substr(1);
        if (called.answer[0] == failed_answer)
          return base::fail(decode_failure(BytesView(called.answer).substr(1)));
      }
    }
    owner = of_.routing.wait_for_owner(shard, owner, deadline);
    if (!owner && SteadyClock::now() >= deadline) return base::fail(no_answer(shard));
  }
}

PeerService::Handler OwnerCalls::handler(Receive receive) {
  return [this, receive = std::move(receive)](PeerService::Call call, PeerService::Answer answer) {
    answer(this->answer(call.message, receive));
  };
}

Bytes OwnerCalls::answer(BytesView message, const Receive& receive) {
  base::Reader reader(message);
  uint32_t shard = 0;
  if (!reader.big_endian(shard))
    return encode_failure(base::Error(base::ErrorCode::server, "A message of another server cannot be read"));
  const auto use = of_.here.use(shard);
  if (!use) return Bytes(1, moved_answer);
  const base::Result<Bytes> answer = receive(reader.rest());
  if (answer) return done_answer + *answer;
  return storage::is_not_here(answer.error()) ? Bytes(1, moved_answer) : encode_failure(answer.error());
}

}  // namespace sibyl::cluster
