// How far a client has got with the bytes that were sent to it.
#pragma once

#include <cstdint>

namespace sibyl::server {

// Bytes that the other end of a TCP socket has acknowledged since it connected. A socket that takes bytes
// only shows that the kernel has room for them; this shows that the client reads, however slowly. 0 when the
// kernel does not say.
uint64_t bytes_acknowledged(int socket);

}  // namespace sibyl::server
