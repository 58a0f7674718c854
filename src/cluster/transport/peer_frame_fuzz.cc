// Splits the input into frames, and decodes them as messages that servers send before and after
// authentication. Every decoded message is encoded again, and must give the same bytes.
#include <cstdint>
#include <cstdlib>

#include "cluster/transport/frame.h"
#include "cluster/transport/handshake.h"

using namespace sibyl::cluster;
using sibyl::base::Bytes;
using sibyl::base::BytesView;

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

void decode(const PeerFrame& frame) {
  BytesView body = frame.body;
  switch (frame.kind) {
    case PeerFrame::Kind::hello:
      if (const auto hello = Hello::decode(body))
        require(Hello::decode(hello->encode())->encode() == hello->encode());
      break;
    case PeerFrame::Kind::challenge:
      if (const auto challenge = Challenge::decode(body)) require(challenge->encode() == body);
      break;
    case PeerFrame::Kind::call:
      if (const auto header = take_call_header(body)) {
        Bytes again;
        append_call_header(again, *header);
        require(again + Bytes(body) == frame.body);
      }
      break;
    case PeerFrame::Kind::answer:
      (void)take_answer_status(body);
      break;
    default:
      break;
  }
}

void walk(BytesView bytes, size_t max_size) {
  for (;;) {
    const PeerFrameStep step = next_peer_frame(bytes, max_size);
    if (step.outcome == PeerFrameStep::Outcome::incomplete) return require(step.size > bytes.size());
    if (step.outcome == PeerFrameStep::Outcome::invalid) return;
    require(step.size <= bytes.size() && step.size <= max_size);
    decode(step.frame);
    Bytes again;
    append_frame(again, step.frame);
    require(again == bytes.substr(0, step.size));
    bytes.remove_prefix(step.size);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const BytesView bytes(reinterpret_cast<const char*>(data), size);
  walk(bytes, max_handshake_frame);
  walk(bytes, max_peer_message_bytes);
  (void)Hello::decode(bytes);
  return 0;
}
