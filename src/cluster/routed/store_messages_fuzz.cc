// Messages of other servers are authenticated, but a damaged one must not end the process.
#include <cstddef>
#include <cstdint>

#include "base/check.h"
#include "cluster/routed/store_messages.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace sibyl;
  using cluster::StoreAnswer;
  using cluster::StoreRequest;
  const base::BytesView bytes(reinterpret_cast<const char*>(data), size);
  if (const auto request = StoreRequest::decode(bytes)) {
    const auto again = StoreRequest::decode(request->encode());
    SIBYL_CHECK(again.has_value() && again->keys == request->keys && again->begin == request->begin);
  }
  for (const auto kind : {StoreRequest::Kind::get, StoreRequest::Kind::scan, StoreRequest::Kind::size,
                          StoreRequest::Kind::sample})
    if (const auto answer = StoreAnswer::decode(bytes, kind))
      SIBYL_CHECK(StoreAnswer::decode(answer->encode(), kind).has_value());
  return 0;
}
