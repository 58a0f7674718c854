// Logging in: AUTHENTICATE, AUTH_RESPONSE, AUTH_SUCCESS.
//
// Passwords are checked by a separate pool with fewer threads than cores, so that reactors and other requests
// do not wait for hashing. An attempt that is delayed (auth::Attempts) waits with a timer and holds no
// thread. Each address has at most a few logins in the pool. So a login from another address waits for those
// few, not for everything that one client sends.
#include <cstring>

#include "auth/password.h"
#include "protocol/response.h"
#include "server/connection/connection.h"

namespace sibyl::server {

using auth::Authenticator;
using protocol::Direction;
using protocol::FrameStep;
using protocol::Opcode;

namespace {

constexpr size_t max_logins_per_address = 8;                  // in the pool, queued or running
constexpr auth::Attempts::Duration login_retry_interval{20};  // checks for a free place
constexpr auth::Attempts::Duration max_login_wait{10'000};    // then the login is refused

void wipe(std::string& secret) {
  explicit_bzero(secret.data(), secret.size());
  secret.clear();
}

base::Error too_many_attempts() {
  return base::Error(base::ErrorCode::overloaded,
                     "Too many failed logins from this address; try again later");
}

base::Result<const auth::Login*> check_password(Shared& shared, const LoginAttempt& login) {
  auto result = shared.engine.log_in(login.credentials.role, login.credentials.password);
  if (result) {
    shared.attempts.record_success(login.address, login.credentials.role, auth::Attempts::Clock::now());
  } else {
    shared.attempts.record_failure(login.address, login.credentials.role, auth::Attempts::Clock::now());
  }
  return result;
}

}  // namespace

void run_login(InFlightRequest& request) {
  Shared& shared = request.reactor->shared();
  LoginAttempt& login = *request.login;
  const bool must_queue =
      shared.limits.slow_failed_logins && !login.has_waited &&
      shared.attempts.must_queue(login.address, login.credentials.role, auth::Attempts::Clock::now());
  if (must_queue) {
    login.result = base::fail(too_many_attempts());
  } else if (!request.connection->is_overloaded()) {  // connected, and reads its responses
    login.result = base::contain([&] { return check_password(shared, login); });
  }
  wipe(login.credentials.password);
  shared.logins_per_address.leave(login.address);
  request.reactor->enqueue_completed(request);
}

void Connection::handle_auth_response(const FrameStep& step, protocol::BytesView body) {
  const int16_t stream = step.header.stream;
  const auto token = protocol::decode_auth_response(body);
  if (!token) return answer_error(stream, token.error());
  engine::Engine& engine = reactor_.shared().engine;
  const Authenticator authenticator = engine.auth_options().authenticator;
  if (authenticator == Authenticator::allow_all) return answer_auth_success(stream);
  if (is_logging_in_)
    return answer_error(
        stream, protocol::protocol_error("Unexpected message AUTH_RESPONSE, a login is already in progress"));
  const bool by_certificate =
      authenticator == Authenticator::mutual_tls ||
      (authenticator == Authenticator::mutual_tls_with_password_fallback && !peer_.identity.empty());
  if (by_certificate) {
    if (peer_.identity.empty())
      return refuse_login(
          stream, "", base::Error(base::ErrorCode::bad_credentials, "Invalid or not supported certificate"));
    return on_login_result(stream, peer_.identity, engine.log_in_by_identity(peer_.identity));
  }
  auto credentials = auth::decode_plain(token->value_or(protocol::BytesView()));
  if (!credentials) return answer_error(stream, credentials.error());
  const auto now = auth::Attempts::Clock::now();
  std::optional<auth::Attempts::Turn> turn = auth::Attempts::Turn();
  if (reactor_.shared().limits.slow_failed_logins)
    turn = reactor_.shared().attempts.take_turn(client_.description.address, credentials->role, now);
  if (!turn) return refuse_login(stream, credentials->role, too_many_attempts());
  auto attempt = std::make_unique<LoginAttempt>(LoginAttempt{
      std::move(*credentials), client_.description.address, turn->in_address_queue,
      now + turn->wait + max_login_wait,
      base::fail(base::ErrorCode::overloaded, "Login refused: too many logins are in progress")});
  InFlightRequest* request = take_request(step, {});
  request->login = std::move(attempt);
  is_logging_in_ = true;
  if (turn->wait.count() == 0) return submit_login(request);
  submit_login_after(turn->wait, request);
}

// Finishes an attempt that cannot be queued.
void Connection::fail_login(InFlightRequest* request, base::Error why) {
  wipe(request->login->credentials.password);
  request->login->result = base::fail(std::move(why));
  finish(request);
}

void Connection::submit_login_after(auth::Attempts::Duration wait, InFlightRequest* request) {
  const base::Status status = base::contain([&] {
    login_timer_ = std::make_unique<boost::asio::steady_timer>(reactor_.context(), wait);
    login_timer_->async_wait([request](const boost::system::error_code& cancelled) {
      Connection& connection = *request->connection;
      const ConnectionPtr keep(&connection);
      if (cancelled) {
        wipe(request->login->credentials.password);
        connection.finish(request);
      } else {
        connection.submit_login(request);
      }
      connection.run_or_close([&] {
        connection.reactor_.mark_unsent(connection);
        connection.reactor_.send_marked();
      });
    });
  });
  if (!status) fail_login(request, status.error());
}

void Connection::submit_login(InFlightRequest* request) {
  Shared& shared = reactor_.shared();
  LoginAttempt& login = *request->login;
  if (stage_ != Stage::closed) {
    const auto entered =
        base::contain([&] { return shared.logins_per_address.enter(login.address, max_logins_per_address); });
    if (!entered) return fail_login(request, entered.error());
    if (*entered) {
      if (shared.login_pool->submit(login_line_, *request)) return;
      shared.logins_per_address.leave(login.address);
    } else if (auth::Attempts::Clock::now() < login.give_up_at) {
      return submit_login_after(login_retry_interval, request);
    }
  }
  wipe(login.credentials.password);
  finish(request);
}

void Connection::finish_login(const InFlightRequest& request) {
  is_logging_in_ = false;
  if (stage_ != Stage::closed)
    on_login_result(request.stream, request.login->credentials.role, request.login->result);
}

void Connection::refuse_login(int16_t stream, std::string_view identity, const base::Error& why) {
  reactor_.shared().request_log.log_refused_login(client_.description.address, identity, why,
                                                  std::chrono::steady_clock::now());
  answer_error(stream, why);
}

void Connection::on_login_result(int16_t stream, std::string_view identity,
                                 const base::Result<const auth::Login*>& login) {
  if (!login) return refuse_login(stream, identity, login.error());
  login_ = *login;
  if (stage_ == Stage::authenticating) stage_ = Stage::ready;
  reactor_.remove_unauthenticated(*this);
  reactor_.shared().clients.update(client_, [&](engine::Client& client) {
    client.stage = "ready";
    client.role = login_->role;
  });
  answer_auth_success(stream);
}

void Connection::answer_authenticate(int16_t stream) {
  base::Bytes& out = output();
  protocol::FrameWriter frame(out, Direction::response, {version_, 0, stream, Opcode::authenticate});
  protocol::append_authenticate(out, auth::class_name(reactor_.shared().engine.auth_options().authenticator));
  frame.finish();
}

void Connection::answer_auth_success(int16_t stream) {
  base::Bytes& out = output();
  protocol::FrameWriter frame(out, Direction::response, {version_, 0, stream, Opcode::auth_success});
  protocol::append_auth_token(out, std::nullopt);
  frame.finish(compression_);
}

}  // namespace sibyl::server
