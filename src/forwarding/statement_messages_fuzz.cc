// Decodes the input as a request and as an answer. Every decoded message is encoded again, and must give the
// same bytes.
#include <cstdint>
#include <cstdlib>

#include "forwarding/statement_messages.h"

using namespace sibyl::forwarding;
using sibyl::base::Bytes;
using sibyl::base::BytesView;

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const BytesView bytes(reinterpret_cast<const char*>(data), size);
  if (const auto request = StatementRequest::decode(bytes)) {
    const Bytes once = request->encode();
    const auto again = StatementRequest::decode(once);
    require(again.has_value() && again->encode() == once);
  }
  if (const auto answer = StatementAnswer::decode(bytes, nullptr)) {
    const Bytes once = answer->encode(nullptr);
    const auto again = StatementAnswer::decode(once, nullptr);
    require(again.has_value() && again->encode(nullptr) == once);
  }
  return 0;
}
