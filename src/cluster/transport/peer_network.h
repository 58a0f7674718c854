// Calls between servers over TCP: the connections of one server.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"
#include "cluster/peers.h"
#include "cluster/state.h"

namespace sibyl::cluster {

class PeerNetwork final : public Peers, public PeerService {
 public:
  struct Options {
    std::string host;   // numeric address to listen on
    uint16_t port = 0;  // 0: any free port
    MemberId own;
    base::Bytes secret;         // of the cluster
    bool is_encrypted = false;  // either all servers of a cluster encrypt, or none
  };

  // Listens when this returns. Calls are refused until their methods have handlers.
  static base::Result<std::unique_ptr<PeerNetwork>> start(Options options);
  // Ends all calls. Waits for handlers that run. REQUIRES: only handlers still make calls.
  ~PeerNetwork() override;
  PeerNetwork(const PeerNetwork&) = delete;
  PeerNetwork& operator=(const PeerNetwork&) = delete;

  // --- Thread-safe.

  uint16_t port() const;
  // Call it with every newer state, which has the members' addresses. Calls to members that have left end.
  void follow(const State& state);

  using Peers::call;
  void call(const MemberId& member, Method method, base::Bytes message, Time deadline, Reply reply) override;
  void handle(Method method, Handler handler, size_t threads) override;

 private:
  class Impl;
  explicit PeerNetwork(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace sibyl::cluster
