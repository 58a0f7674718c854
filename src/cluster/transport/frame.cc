#include "cluster/transport/frame.h"

namespace sibyl::cluster {

using base::Bytes;
using base::BytesView;

void append_frame(Bytes& out, const PeerFrame& frame) {
  base::append_big_endian(out, static_cast<uint32_t>(peer_frame_header - 4 + frame.body.size()));
  out.push_back(static_cast<char>(frame.kind));
  base::append_big_endian(out, frame.call);
  out.append(frame.body);
}

PeerFrameStep next_peer_frame(BytesView bytes, size_t max_size) {
  using Outcome = PeerFrameStep::Outcome;
  PeerFrameStep step;
  if (bytes.size() < peer_frame_header) {
    step.size = peer_frame_header;
    return step;
  }
  const size_t rest = base::read_big_endian<uint32_t>(bytes);
  const auto kind = static_cast<uint8_t>(bytes[4]);
  const bool is_known = kind >= uint8_t(PeerFrame::Kind::hello) && kind <= uint8_t(PeerFrame::Kind::answer);
  step.size = 4 + rest;
  if (!is_known || step.size < peer_frame_header || step.size > max_size) {
    step.outcome = Outcome::invalid;
  } else if (bytes.size() >= step.size) {
    step.outcome = Outcome::frame;
    step.frame = {static_cast<PeerFrame::Kind>(kind), base::read_big_endian<uint64_t>(bytes.substr(5)),
                  bytes.substr(peer_frame_header, step.size - peer_frame_header)};
  }
  return step;
}

void append_call_header(Bytes& out, const CallHeader& header) {
  out.push_back(static_cast<char>(header.method));
  base::append_big_endian(out, header.timeout_ms);
}

std::optional<CallHeader> take_call_header(BytesView& body) {
  if (body.size() < call_header_size || static_cast<uint8_t>(body[0]) >= method_count) return std::nullopt;
  const CallHeader header{static_cast<Method>(body[0]), base::read_big_endian<uint32_t>(body.substr(1))};
  body.remove_prefix(call_header_size);
  return header;
}

std::optional<AnswerStatus> take_answer_status(BytesView& body) {
  if (body.empty() || static_cast<uint8_t>(body[0]) > uint8_t(AnswerStatus::failed)) return std::nullopt;
  const auto status = static_cast<AnswerStatus>(body[0]);
  body.remove_prefix(1);
  return status;
}

}  // namespace sibyl::cluster
