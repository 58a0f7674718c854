// The connection over which this server calls another one.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>

#include "cluster/peers.h"
#include "cluster/transport/channel.h"
#include "cluster/transport/handshake.h"

namespace sibyl::cluster {

// Connects when it is constructed. If that fails, the calls that wait for it end as not_sent.
class Outgoing final : public Channel {
 public:
  struct Options {
    MemberId own, member;
    base::Bytes secret;
    boost::asio::ssl::context* tls = nullptr;
    // Called once, before the remaining calls end.
    std::function<void()> on_closed;
  };

  Outgoing(boost::asio::io_context& context, Options options);
  void connect(const boost::asio::ip::tcp::endpoint& endpoint);

  // Makes a call, which leaves with the next flush(). REQUIRES: the connection is not closed.
  void call(Method method, base::Bytes message, Peers::Time deadline, Peers::Reply reply);
  // Ends the calls whose deadline has passed. Returns the earliest of the others.
  std::optional<Peers::Time> expire(Peers::Time now);

 private:
  using Deadlines = std::multimap<Peers::Time, uint64_t>;
  struct Call {
    Peers::Reply reply;
    Deadlines::iterator deadline;
    // A call that waits until the connection is ready.
    Method method = Method::ping;
    base::Bytes message;
  };

  void on_ready() override;
  bool on_frame(const PeerFrame& frame) override;
  void on_closed(const std::string& why) override;
  bool answer_challenge(base::BytesView body);
  void begin();
  bool receive_answer(const PeerFrame& frame);
  void send(uint64_t number, Method method, base::BytesView message, Peers::Time deadline);
  void finish(uint64_t number, CallResult result);

  const Options options_;
  const Hello hello_;
  bool has_proved_ = false;  // this side has sent its proof
  std::unordered_map<uint64_t, Call> calls_;
  Deadlines deadlines_;
  uint64_t last_number_ = 0;
};

}  // namespace sibyl::cluster
