// Logging in: AUTHENTICATE, AUTH_RESPONSE, AUTH_SUCCESS.
//
// A password is looked at by a pool of its own, with fewer threads than the machine has cores, so that
// neither reactors nor other requests wait for hashing. An attempt that must wait first (auth::Attempts) does
// so with a timer, and holds no thread. Of each address a few are in the pool at a time: whoever logs in from
// elsewhere stands behind those few, not behind all that one client sends.
#include <cstring>

#include "auth/password.h"
#include "protocol/response.h"
#include "server/connection.h"

namespace sibyl::server {

using auth::Authenticator;
using protocol::Direction;
using protocol::FrameStep;
using protocol::Opcode;

namespace {

constexpr size_t logins_of_one_address = 8;               // in the pool, queued or running
constexpr auth::Attempts::Duration look_again{20};        // whether one of them has gone
constexpr auth::Attempts::Duration longest_look{10'000};  // then it is refused

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
    shared.attempts.succeeded(login.address, login.credentials.role, auth::Attempts::Clock::now());
  } else {
    shared.attempts.failed(login.address, login.credentials.role, auth::Attempts::Clock::now());
  }
  return result;
}

}  // namespace

void run_login(Call& call) {
  Shared& shared = call.reactor->shared();
  LoginAttempt& login = *call.login;
  const bool is_slowed =
      shared.limits.slow_failed_logins && !login.has_waited &&
      shared.attempts.is_slowed(login.address, login.credentials.role, auth::Attempts::Clock::now());
  if (is_slowed) {
    login.result = base::fail(too_many_attempts());
  } else if (!call.connection->is_overloaded()) {  // else it is gone, or does not read
    login.result = base::contain([&] { return check_password(shared, login); });
  }
  wipe(login.credentials.password);
  shared.logins_per_address.leave(login.address);
  call.reactor->completed(call);
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
        stream, protocol::protocol_error("Unexpected message AUTH_RESPONSE, another one is being looked at"));
  const bool by_certificate =
      authenticator == Authenticator::mutual_tls ||
      (authenticator == Authenticator::mutual_tls_with_password_fallback && !peer_.identity.empty());
  if (by_certificate) {
    if (peer_.identity.empty())
      return refuse_login(
          stream, "", base::Error(base::ErrorCode::bad_credentials, "Invalid or not supported certificate"));
    return logged_in(stream, peer_.identity, engine.log_in_by_identity(peer_.identity));
  }
  auto credentials = auth::decode_plain(token->value_or(protocol::BytesView()));
  if (!credentials) return answer_error(stream, credentials.error());
  const auto now = auth::Attempts::Clock::now();
  std::optional<auth::Attempts::Turn> turn = auth::Attempts::Turn();
  if (reactor_.shared().limits.slow_failed_logins)
    turn = reactor_.shared().attempts.take_turn(client_.description.address, credentials->role, now);
  if (!turn) return refuse_login(stream, credentials->role, too_many_attempts());
  auto attempt = std::make_unique<LoginAttempt>(LoginAttempt{
      std::move(*credentials), client_.description.address, turn->by_address, now + turn->wait + longest_look,
      base::fail(base::ErrorCode::overloaded, "Login refused: too many others are being looked at")});
  Call* call = take_call(step, {});
  call->login = std::move(attempt);
  is_logging_in_ = true;
  if (turn->wait.count() == 0) return submit_login(call);
  submit_login_after(turn->wait, call);
}

// The attempt cannot be queued.
void Connection::fail_login(Call* call, base::Error why) {
  wipe(call->login->credentials.password);
  call->login->result = base::fail(std::move(why));
  finish(call);
}

void Connection::submit_login_after(auth::Attempts::Duration wait, Call* call) {
  const base::Status status = base::contain([&] {
    login_timer_ = std::make_unique<boost::asio::steady_timer>(reactor_.context(), wait);
    login_timer_->async_wait([call](const boost::system::error_code& cancelled) {
      Connection& connection = *call->connection;
      const ConnectionPtr keep(&connection);
      if (cancelled) {
        wipe(call->login->credentials.password);
        connection.finish(call);
      } else {
        connection.submit_login(call);
      }
      connection.run_or_close([&] {
        connection.reactor_.mark_unsent(connection);
        connection.reactor_.send_marked();
      });
    });
  });
  if (!status) fail_login(call, status.error());
}

void Connection::submit_login(Call* call) {
  Shared& shared = reactor_.shared();
  LoginAttempt& login = *call->login;
  if (stage_ != Stage::closed) {
    const auto entered =
        base::contain([&] { return shared.logins_per_address.enter(login.address, logins_of_one_address); });
    if (!entered) return fail_login(call, entered.error());
    if (*entered) {
      if (shared.login_pool->submit(login_line_, *call)) return;
      shared.logins_per_address.leave(login.address);
    } else if (auth::Attempts::Clock::now() < login.patience_ends) {
      return submit_login_after(look_again, call);
    }
  }
  wipe(login.credentials.password);
  finish(call);
}

void Connection::finish_login(const Call& call) {
  is_logging_in_ = false;
  if (stage_ != Stage::closed) logged_in(call.stream, call.login->credentials.role, call.login->result);
}

void Connection::refuse_login(int16_t stream, std::string_view who, const base::Error& why) {
  reactor_.shared().request_log.tell_refused(client_.description.address, who, why,
                                             std::chrono::steady_clock::now());
  answer_error(stream, why);
}

void Connection::logged_in(int16_t stream, std::string_view who,
                           const base::Result<const auth::Login*>& login) {
  if (!login) return refuse_login(stream, who, login.error());
  login_ = *login;
  if (stage_ == Stage::authenticating) stage_ = Stage::ready;
  reactor_.remove_stranger(*this);
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
