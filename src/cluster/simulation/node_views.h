// Renews view rows in the shards of other simulated servers. The protocol is that of the engine
// (engine/intents/view_tickets.h).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "base/executor.h"
#include "cluster/membership.h"
#include "cluster/ownership.h"
#include "cluster/simulation/node_shards.h"
#include "cluster/simulation/requests.h"

namespace sibyl::cluster::simulation {

struct ViewMessage {
  enum class Kind : uint8_t { ask_ticket, ticket, put, answer };
  Kind kind = Kind::ask_ticket;
  std::string from;
  uint64_t number = 0;  // number of the attempt that the message belongs to
  Key row = 0;
  uint64_t ticket = 0;
  int64_t value = 0;  // put
  bool accepted = false;
};

class NodeViews {
 public:
  // true: all view rows have been renewed. false: they follow later.
  using Done = std::move_only_function<void(bool)>;
  using Send = std::function<void(const std::string& to, const ViewMessage& message)>;
  struct Parts {
    base::Executor& executor;
    NodeShards& shards;
    Membership& membership;
    Ownership& ownership;
  };
  // `incarnation`: of this server, so that it ignores messages to former ones.
  NodeViews(const Parts& parts, Send send, uint64_t incarnation, Weakness weakness);

  // Call this after the base row was changed with this timestamp.
  void renew(Key base, int64_t timestamp, Done done);
  void receive(const ViewMessage& message);

 private:
  struct Renewal {
    Key base = 0;
    int64_t timestamp = 0;
    bool is_odd = false;  // the view row
    int64_t deadline = 0;
    Done done;
  };
  using RenewalPtr = std::shared_ptr<Renewal>;

  uint32_t shard_of(Key key) const;
  std::optional<uint64_t> serving_epoch(Key key) const;
  void begin(const RenewalPtr& renewal);
  void retry(const RenewalPtr& renewal);
  void finish(const RenewalPtr& renewal, bool is_renewed);
  RenewalPtr take(uint64_t number);
  void await(uint64_t number, const RenewalPtr& renewal);
  void give_ticket(const ViewMessage& message);
  void send_put(const ViewMessage& message);
  void put(const ViewMessage& message);
  void complete(const ViewMessage& message);
  void renew_interrupted();

  const Parts of_;
  const Send send_;
  const Weakness weakness_;
  uint64_t last_number_;
  std::map<uint64_t, RenewalPtr> attempts_;  // attempts that wait for a message
  std::multiset<Key> in_progress_;
};

}  // namespace sibyl::cluster::simulation
