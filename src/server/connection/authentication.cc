#include "server/connection/authentication.h"

#include <cstring>
#include <utility>

#include "auth/password.h"
#include "base/contain.h"
#include "protocol/request.h"
#include "server/connection/connection.h"
#include "server/reactor.h"

namespace sibyl::server {

using auth::Authenticator;
using protocol::FrameStep;

namespace {

// Limit of the logins of one address that are in the pool, whether they wait or run.
constexpr size_t max_logins_per_address = 8;
constexpr auth::Attempts::Duration login_retry_interval{20};  // how often a waiting login checks for a free
                                                              // place
constexpr auth::Attempts::Duration max_login_wait{10'000};    // a login that waits longer is refused

void wipe(std::string& secret) {
  explicit_bzero(secret.data(), secret.size());
  secret.clear();
}

base::Error too_many_attempts() {
  return base::Error(base::ErrorCode::overloaded,
                     "Too many failed logins from this address; try again later");
}

base::Result<const auth::Login*> check_password(Shared& shared, const LoginAttempt& login) {
  auto result = shared.engine.authenticator.log_in(login.credentials.role, login.credentials.password);
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
  } else if (!request.connection->backlog().is_full()) {  // the client is connected, and reads its responses
    login.result = base::contain([&] { return check_password(shared, login); });
  }
  wipe(login.credentials.password);
  shared.logins_per_address.leave(login.address);
  request.reactor->enqueue_completed(request);
}

void Authentication::handle_response(const FrameStep& step, protocol::BytesView body) {
  const int16_t stream = step.header.stream;
  const auto token = protocol::decode_auth_response(body);
  if (!token) return handler().answer_error(stream, token.error());
  const engine::Services& engine = reactor_.shared().engine;
  const Authenticator authenticator = engine.authenticator.options().authenticator;
  if (authenticator == Authenticator::allow_all) return handler().answer_auth_success(stream);
  if (is_in_progress_)
    return handler().answer_error(
        stream, protocol::protocol_error("Unexpected message AUTH_RESPONSE, a login is already in progress"));
  const bool by_certificate =
      authenticator == Authenticator::mutual_tls ||
      (authenticator == Authenticator::mutual_tls_with_password_fallback && !peer_.identity.empty());
  if (by_certificate) {
    if (peer_.identity.empty())
      return refuse(stream, "",
                    base::Error(base::ErrorCode::bad_credentials, "Invalid or not supported certificate"));
    return on_result(stream, peer_.identity, engine.authenticator.log_in_by_identity(peer_.identity));
  }
  start_attempt(step, token->value_or(protocol::BytesView()));
}

// Starts an attempt to log in by password.
void Authentication::start_attempt(const FrameStep& step, protocol::BytesView token) {
  const int16_t stream = step.header.stream;
  auto credentials = auth::decode_plain(token);
  if (!credentials) return handler().answer_error(stream, credentials.error());
  const auto now = auth::Attempts::Clock::now();
  std::optional<auth::Attempts::Turn> turn = auth::Attempts::Turn();
  if (reactor_.shared().limits.slow_failed_logins)
    turn = reactor_.shared().attempts.take_turn(connection_.address(), credentials->role, now);
  if (!turn) return refuse(stream, credentials->role, too_many_attempts());
  auto attempt = std::make_unique<LoginAttempt>(LoginAttempt{
      std::move(*credentials), connection_.address(), turn->in_address_queue,
      now + turn->wait + max_login_wait,
      base::fail(base::ErrorCode::overloaded, "Login refused: too many logins are in progress")});
  InFlightRequest* request = handler().take_request(step, {});
  request->login = std::move(attempt);
  is_in_progress_ = true;
  if (turn->wait.count() == 0) return submit(request);
  submit_after(turn->wait, request);
}

// Finishes an attempt that cannot be queued.
void Authentication::fail(InFlightRequest* request, base::Error why) {
  wipe(request->login->credentials.password);
  request->login->result = base::fail(std::move(why));
  handler().finish(request);
}

void Authentication::submit_after(auth::Attempts::Duration wait, InFlightRequest* request) {
  const base::Status status = base::contain([&] {
    timer_ = std::make_unique<boost::asio::steady_timer>(reactor_.context(), wait);
    timer_->async_wait([request](const boost::system::error_code& cancelled) {
      Connection& connection = *request->connection;
      const ConnectionPtr keep(&connection);
      if (cancelled) {
        wipe(request->login->credentials.password);
        connection.finish(request);
      } else {
        connection.handler().authentication().submit(request);
      }
      connection.run_or_close([&] { connection.end_round(); });
    });
  });
  if (!status) fail(request, status.error());
}

void Authentication::submit(InFlightRequest* request) {
  Shared& shared = reactor_.shared();
  LoginAttempt& login = *request->login;
  if (!connection_.is_closed()) {
    const auto entered =
        base::contain([&] { return shared.logins_per_address.enter(login.address, max_logins_per_address); });
    if (!entered) return fail(request, entered.error());
    if (*entered) {
      if (shared.login_pool->submit(line_, *request)) return;
      shared.logins_per_address.leave(login.address);
    } else if (auth::Attempts::Clock::now() < login.give_up_at) {
      return submit_after(login_retry_interval, request);
    }
  }
  wipe(login.credentials.password);
  handler().finish(request);
}

void Authentication::finish(const InFlightRequest& request) {
  is_in_progress_ = false;
  if (!connection_.is_closed())
    on_result(request.stream, request.login->credentials.role, request.login->result);
}

void Authentication::refuse(int16_t stream, std::string_view identity, const base::Error& why) {
  reactor_.shared().request_log.log_refused_login(connection_.address(), identity, why,
                                                  std::chrono::steady_clock::now());
  handler().answer_error(stream, why);
}

void Authentication::on_result(int16_t stream, std::string_view identity,
                               const base::Result<const auth::Login*>& login) {
  if (!login) return refuse(stream, identity, login.error());
  handler().log_in(*login);
  handler().answer_auth_success(stream);
}

void Authentication::cancel() {
  if (timer_) timer_->cancel();
}

MessageHandler& Authentication::handler() {
  return connection_.handler();
}

}  // namespace sibyl::server
