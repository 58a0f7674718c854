#include "cluster/transport/incoming.h"

#include <fmt/format.h>

#include <chrono>
#include <utility>

namespace sibyl::cluster {
namespace {

constexpr std::chrono::milliseconds handshake_timeout{5'000};

}  // namespace

class Incoming::Answerer {
 public:
  Answerer(std::weak_ptr<Channel> channel, std::shared_ptr<Inbox> inbox, uint64_t call)
      : channel_(std::move(channel)), inbox_(std::move(inbox)), call_(call) {}
  Answerer(Answerer&&) noexcept = default;
  Answerer& operator=(Answerer&&) = delete;
  ~Answerer() {
    if (inbox_) send(AnswerStatus::failed, "the call was abandoned");
  }
  void operator()(base::Bytes answer) { send(AnswerStatus::answered, std::move(answer)); }
  // Answers the call without a handler, and says why.
  void refuse(std::string why) { send(AnswerStatus::refused, std::move(why)); }

 private:
  void send(AnswerStatus status, base::Bytes body) {
    const std::shared_ptr<Inbox> inbox = std::exchange(inbox_, nullptr);
    const auto channel = channel_.lock();
    if (!inbox || !channel) return;
    if (body.size() > max_peer_message_bytes) {
      status = AnswerStatus::failed;
      body = fmt::format("its answer has {} bytes, which is too large", body.size());
    }
    if (inbox->is_here()) {
      static_cast<Incoming&>(*channel).answer(call_, status, body);
      return channel->flush();
    }
    inbox->add([channel, inbox, call = call_, status, body = std::move(body)] {
      static_cast<Incoming&>(*channel).answer(call, status, body);
      inbox->flush_later(channel);
    });
  }

  std::weak_ptr<Channel> channel_;
  std::shared_ptr<Inbox> inbox_;  // nullptr: answered
  const uint64_t call_;
};

Incoming::Incoming(boost::asio::ip::tcp::socket socket, Options options)
    : Channel(std::move(socket), options.tls), options_(std::move(options)) {}

void Incoming::start() {
  limit_handshake(handshake_timeout);
  open(Side::receiver);
}

bool Incoming::on_frame(const PeerFrame& frame) {
  switch (frame.kind) {
    case PeerFrame::Kind::hello:
      return expected_proof_.empty() && receive_hello(frame.body);
    case PeerFrame::Kind::proof:
      return !expected_proof_.empty() && !is_authenticated() && check_proof(frame.body);
    case PeerFrame::Kind::call:
      return is_authenticated() && receive_call(frame);
    default:
      return false;
  }
}

void Incoming::on_closed(const std::string&) {
  options_.on_closed(this);
}

// --- The handshake

bool Incoming::receive_hello(base::BytesView body) {
  const auto hello = Hello::decode(body);
  if (!hello) {
    const std::string version = foreign_protocol(body);
    if (version.empty()) return false;
    refuse(fmt::format("it does not speak version {} of the protocol between servers", version));
    return true;
  }
  if (hello->receiver != options_.own) {
    refuse(fmt::format("this is {}", to_string(options_.own)));
    return true;
  }
  caller_ = hello->caller.name;
  const base::Bytes nonce = random_bytes(nonce_size);
  expected_proof_ = handshake_mac(options_.secret, Role::caller, body, nonce);
  const Challenge challenge{nonce, handshake_mac(options_.secret, Role::receiver, body, nonce)};
  append({PeerFrame::Kind::challenge, 0, challenge.encode()});
  return true;
}

bool Incoming::check_proof(base::BytesView mac) {
  if (!is_same_mac(mac, expected_proof_)) return false;
  set_authenticated();
  append({PeerFrame::Kind::welcome, 0, {}});
  return true;
}

// The other side then closes the connection. If it does not, the timer closes it.
void Incoming::refuse(const std::string& why) {
  append({PeerFrame::Kind::refusal, 0, why});
}

// --- Calls

bool Incoming::receive_call(const PeerFrame& frame) {
  base::BytesView body = frame.body;
  const auto header = take_call_header(body);
  if (!header) return false;
  if (header->method == Method::ping) {
    answer(frame.call, AnswerStatus::answered, body);
    return true;
  }
  PeerService::Call call{base::Bytes(body), caller_,
                         std::chrono::steady_clock::now() + std::chrono::milliseconds(header->timeout_ms)};
  auto answerer = std::make_shared<Answerer>(weak_from_this(), options_.inbox, frame.call);
  PeerService::Answer answer = [answerer](base::Bytes bytes) { (*answerer)(std::move(bytes)); };
  if (!options_.workers->submit(header->method, std::move(call), answer))
    answerer->refuse("it does not accept such calls now");
  return true;
}

void Incoming::answer(uint64_t call, AnswerStatus status, base::BytesView body) {
  base::Bytes bytes;
  bytes.reserve(1 + body.size());
  bytes.push_back(static_cast<char>(status));
  bytes.append(body);
  append({PeerFrame::Kind::answer, call, bytes});
}

}  // namespace sibyl::cluster
