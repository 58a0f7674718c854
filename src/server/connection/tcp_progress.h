// Acknowledgements of TCP: those that a client has sent, and those for a client.
#pragma once

#include <cstdint>

namespace sibyl::server {

// Returns the bytes that the other end of a TCP socket has acknowledged since it connected; 0 if unknown. A
// successful send only shows that the kernel has room for the bytes. Acknowledged bytes show that the client
// reads, however slowly.
uint64_t bytes_acknowledged(int socket);

// Acknowledges received bytes now instead of up to 40 ms later. A client that uses Nagle's algorithm, as the
// Python driver does, sends the last part of a message only after the parts before it were acknowledged. The
// kernel soon delays acknowledgements again, so call this whenever a message turns out to be incomplete.
void acknowledge_now(int socket);

}  // namespace sibyl::server
