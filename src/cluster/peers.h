// Calls between the servers of a cluster.
//
// A call is a message to one run of one server, and its answer. Both are bytes that the method defines; this
// interface does not interpret them. Refusals, such as "I do not own that shard", are answers like any other.
//
//  1. A call ends exactly once, in one of three ways: `answered`; `not_sent`, if the receiver will never
//     execute it; or `unknown`, if the receiver may have executed it, may execute it later, or never will.
//  2. A call is delivered at most once, only to the incarnation that it names, and by an authenticated server
//     of the same cluster. Calls may be delivered out of order.
//  3. A call ends at its deadline at the latest, and as soon as its member leaves the state of the cluster or
//     the connection breaks. The receiver is not notified, and completes a call that it has begun.
//  4. Each method has threads of its own at the receiver, so a handler may block, also for calls of other
//     methods. Handlers must not form a cycle: store methods (read, commit) call no other method, reload and
//     execute may call store methods, and define may call all of these.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "cluster/state.h"

namespace sibyl::cluster {

// Numbers are part of the protocol between servers: never change the meaning of one.
enum class Method : uint8_t {
  ping = 0,     // answered by the transport, with the same message
  execute = 1,  // a statement or a batch on one shard, which the owner of the shard runs
  define = 2,   // a definition or a statement about roles, run by the owner of the meta shard
  reload = 3,   // the schema or the roles have changed: answered once this server uses them
  read = 4,     // a read of records of one shard (RoutedStore)
  commit = 5,   // a commit of a write set on one shard (RoutedStore)
  inspect = 6,  // a request for sizes and statistics of one shard (RoutedStore)
  operate = 7,  // a command of an operator (server/http/control.h); handling it calls no other server
};
inline constexpr size_t method_count = 8;

// Calls with larger messages end as not_sent, and calls with larger answers as unknown.
inline constexpr size_t max_peer_message_bytes = size_t{256} << 20;

struct CallResult {
  enum class Outcome : uint8_t { answered, not_sent, unknown };
  Outcome outcome = Outcome::unknown;
  base::Bytes answer;  // answered
  std::string why;     // for a call that was not answered, the reason, for messages and logs

  bool is_answered() const { return outcome == Outcome::answered; }
};

// Thread-safe.
class Peers {
 public:
  using Time = std::chrono::steady_clock::time_point;
  using Reply = std::move_only_function<void(CallResult)>;

  virtual ~Peers() = default;

  // Returns at once. `reply` is called exactly once, on any thread, perhaps before this returns, and must not
  // block. REQUIRES: `member` is not this server.
  virtual void call(const MemberId& member, Method method, base::Bytes message, Time deadline,
                    Reply reply) = 0;
  // Blocks until the call has ended. REQUIRES: not called by a Reply.
  CallResult call(const MemberId& member, Method method, base::Bytes message, Time deadline);
};

// Receives the calls of other servers. Thread-safe.
class PeerService {
 public:
  // Sends the answer. Call it at most once, on any thread, also after the handler has returned. If it is
  // destroyed without a call, the caller's call ends as unknown.
  using Answer = std::move_only_function<void(base::Bytes)>;
  struct Call {
    base::Bytes message;
    std::string from;      // the name of the member that calls
    Peers::Time deadline;  // the caller's deadline by this server's clock; may be early, never late
  };
  // May block if it has threads, see rule 4. An exception ends the call as unknown.
  using Handler = std::function<void(Call call, Answer answer)>;

  virtual ~PeerService() = default;

  // Calls of a method without a handler end as not_sent. `threads` limits how many handlers of this method
  // run at a time; more calls wait. 0: handlers run on the thread that receives, so they must not block, and
  // delay all other calls. Replaces the former handler. An empty handler ends the method: once this has
  // returned, no handler of the method runs any more. REQUIRES: not called by a handler of the method.
  virtual void handle(Method method, Handler handler, size_t threads) = 0;
};

}  // namespace sibyl::cluster
