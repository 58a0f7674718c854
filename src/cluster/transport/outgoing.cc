#include "cluster/transport/outgoing.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <utility>
#include <vector>

namespace sibyl::cluster {

namespace asio = boost::asio;
using Outcome = CallResult::Outcome;

namespace {

constexpr std::chrono::milliseconds connect_timeout{2'000};

uint32_t remaining_ms(Peers::Time deadline) {
  const auto left =
      std::chrono::duration_cast<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
  return static_cast<uint32_t>(std::clamp<int64_t>(left.count(), 0, UINT32_MAX));
}

}  // namespace

Outgoing::Outgoing(asio::io_context& context, Options options)
    : Channel(asio::ip::tcp::socket(context), options.tls),
      options_(std::move(options)),
      hello_{options_.own, options_.member, random_bytes(nonce_size)} {}

void Outgoing::connect(const asio::ip::tcp::endpoint& endpoint) {
  limit_handshake(connect_timeout);
  socket().async_connect(endpoint, [self = shared_from_this(), this](const boost::system::error_code& error) {
    if (is_closed()) return;
    if (error) return close(error.message());
    open(Side::caller);
  });
}

void Outgoing::call(Method method, base::Bytes message, Peers::Time deadline, Peers::Reply reply) {
  const uint64_t number = ++last_number_;
  Call& call = calls_[number];
  call.reply = std::move(reply);
  call.deadline = deadlines_.emplace(deadline, number);
  if (is_authenticated()) return send(number, method, message, deadline);
  call.method = method;
  call.message = std::move(message);
}

std::optional<Peers::Time> Outgoing::expire(Peers::Time now) {
  while (!deadlines_.empty() && deadlines_.begin()->first <= now)
    finish(deadlines_.begin()->second,
           {is_authenticated() ? Outcome::unknown : Outcome::not_sent, {}, "no answer in time"});
  return deadlines_.empty() ? std::nullopt : std::optional(deadlines_.begin()->first);
}

// --- The handshake

void Outgoing::on_ready() {
  append({PeerFrame::Kind::hello, 0, hello_.encode()});
}

bool Outgoing::on_frame(const PeerFrame& frame) {
  switch (frame.kind) {
    case PeerFrame::Kind::challenge:
      return !is_authenticated() && answer_challenge(frame.body);
    case PeerFrame::Kind::welcome:
      if (is_authenticated() || !has_proved_) return false;
      begin();
      return true;
    case PeerFrame::Kind::refusal:
      close(std::string(frame.body));
      return true;
    case PeerFrame::Kind::answer:
      return is_authenticated() && receive_answer(frame);
    default:
      return false;
  }
}

// The receiver must prove first that it has the secret.
bool Outgoing::answer_challenge(base::BytesView body) {
  const auto challenge = Challenge::decode(body);
  if (!challenge || has_proved_) return false;
  const base::Bytes hello = hello_.encode();
  const auto mac = [&](Role role) { return handshake_mac(options_.secret, role, hello, challenge->nonce); };
  if (!is_same_mac(challenge->mac, mac(Role::receiver))) {
    close("it does not have the secret of this cluster");
    return true;
  }
  has_proved_ = true;
  append({PeerFrame::Kind::proof, 0, mac(Role::caller)});
  return true;
}

void Outgoing::begin() {
  set_authenticated();
  for (auto& [number, call] : calls_) {
    send(number, call.method, call.message, call.deadline->first);
    call.message = {};
  }
}

// --- Calls

void Outgoing::send(uint64_t number, Method method, base::BytesView message, Peers::Time deadline) {
  base::Bytes body;
  body.reserve(call_header_size + message.size());
  append_call_header(body, {method, remaining_ms(deadline)});
  body.append(message);
  append({PeerFrame::Kind::call, number, body});
}

bool Outgoing::receive_answer(const PeerFrame& frame) {
  base::BytesView body = frame.body;
  const auto status = take_answer_status(body);
  if (!status) return false;
  switch (*status) {
    case AnswerStatus::answered:
      finish(frame.call, {Outcome::answered, base::Bytes(body), {}});
      break;
    case AnswerStatus::refused:
      finish(frame.call, {Outcome::not_sent, {}, std::string(body)});
      break;
    case AnswerStatus::failed:
      finish(frame.call, {Outcome::unknown, {}, std::string(body)});
      break;
  }
  return true;
}

// If the number is unknown, the deadline of the call has passed.
void Outgoing::finish(uint64_t number, CallResult result) {
  const auto found = calls_.find(number);
  if (found == calls_.end()) return;
  Peers::Reply reply = std::move(found->second.reply);
  deadlines_.erase(found->second.deadline);
  calls_.erase(found);
  reply(std::move(result));
}

void Outgoing::on_closed(const std::string& why) {
  const std::string text = fmt::format("{}: {}", options_.member.name, why);
  const Outcome outcome = is_authenticated() ? Outcome::unknown : Outcome::not_sent;
  options_.on_closed();
  while (!calls_.empty()) finish(calls_.begin()->first, {outcome, {}, text});
}

}  // namespace sibyl::cluster
