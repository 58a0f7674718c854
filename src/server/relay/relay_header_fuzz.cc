// Fuzzes the parser of relays' headers: an accepted header must be encoded as the same bytes.
#include <cstddef>
#include <cstdint>

#include "base/check.h"
#include "server/relay/relay_header.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace sibyl;
  const base::BytesView bytes(reinterpret_cast<const char*>(data), size);
  if (const auto header = server::parse_relay_header(bytes)) SIBYL_CHECK(server::encode(*header) == bytes);
  return 0;
}
