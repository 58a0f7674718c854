// Logs in the client of one connection: AUTH_RESPONSE, by password or by certificate. Used only on the
// reactor's thread, except for run_login().
//
// Passwords are checked by a separate pool with fewer threads than cores, so that reactors and other requests
// do not wait for hashing. An attempt that is delayed (auth::Attempts) waits with a timer and holds no
// thread. Each address has at most a few logins in the pool. So a login from another address waits for those
// few, not for everything that one client sends.
#pragma once

#include <boost/asio/steady_timer.hpp>
#include <cstdint>
#include <memory>
#include <string_view>

#include "auth/attempts.h"
#include "base/result.h"
#include "protocol/frame.h"
#include "server/in_flight_request.h"
#include "server/scheduling/blocking_pool.h"
#include "server/tls/tls_stream.h"

namespace sibyl::server {

class MessageHandler;

class Authentication {
 public:
  // `connection` owns this object.
  Authentication(Connection& connection, Reactor& reactor) : connection_(connection), reactor_(reactor) {}
  Authentication(const Authentication&) = delete;
  Authentication& operator=(const Authentication&) = delete;

  // Answers the message, or starts an attempt, which is a request that the login pool completes. `body` is
  // that of the message.
  void handle_response(const protocol::FrameStep& step, protocol::BytesView body);
  // Sends the response to an attempt that has completed.
  void finish(const InFlightRequest& request);
  // True while an attempt has no result.
  bool is_in_progress() const { return is_in_progress_; }
  // Ends the delay of an attempt, because the connection has closed.
  void cancel();

  // The identity in the client's certificate; empty if the client sent none.
  void set_peer(PeerCertificate peer) { peer_ = std::move(peer); }
  const PeerCertificate& peer() const { return peer_; }

 private:
  void start_attempt(const protocol::FrameStep& step, protocol::BytesView token);
  void submit(InFlightRequest* request);
  void submit_after(auth::Attempts::Duration wait, InFlightRequest* request);
  void fail(InFlightRequest* request, base::Error why);
  void on_result(int16_t stream, std::string_view identity, const base::Result<const auth::Login*>& login);
  void refuse(int16_t stream, std::string_view identity, const base::Error& why);
  MessageHandler& handler();

  Connection& connection_;
  Reactor& reactor_;
  bool is_in_progress_ = false;
  BlockingPool::Line line_;                           // in Shared::login_pool
  std::unique_ptr<boost::asio::steady_timer> timer_;  // delays an attempt
  PeerCertificate peer_;
};

// Checks a password. Called on a thread of Shared::login_pool.
void run_login(InFlightRequest& request);

}  // namespace sibyl::server
