// A connection over which another server calls this one.
#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "cluster/peers.h"
#include "cluster/transport/channel.h"
#include "cluster/transport/handshake.h"
#include "cluster/transport/inbox.h"
#include "cluster/transport/workers.h"

namespace sibyl::cluster {

class Incoming final : public Channel {
 public:
  struct Options {
    MemberId own;
    base::Bytes secret;
    boost::asio::ssl::context* tls = nullptr;
    std::shared_ptr<Inbox> inbox;
    Workers* workers = nullptr;                // must outlive the connection
    std::function<void(Incoming*)> on_closed;  // called once
  };

  Incoming(boost::asio::ip::tcp::socket socket, Options options);
  void start();

 private:
  // Sends the answer of one call, or reports that the call failed.
  class Answerer;

  void on_ready() override {}
  bool on_frame(const PeerFrame& frame) override;
  void on_closed(const std::string& why) override;
  bool receive_hello(base::BytesView body);
  bool check_proof(base::BytesView mac);
  bool receive_call(const PeerFrame& frame);
  void refuse(const std::string& why);
  void answer(uint64_t call, AnswerStatus status, base::BytesView body);

  const Options options_;
  std::string caller_;
  base::Bytes expected_proof_;  // empty before the hello
};

}  // namespace sibyl::cluster
