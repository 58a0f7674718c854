// How many sent bytes a client has received.
#pragma once

#include <cstdint>

namespace sibyl::server {

// Returns the bytes that the other end of a TCP socket has acknowledged since it connected; 0 if unknown. A
// successful send only shows that the kernel has room for the bytes. Acknowledged bytes show that the client
// reads, however slowly.
uint64_t bytes_acknowledged(int socket);

}  // namespace sibyl::server
