// One encrypted conversation over a non-blocking socket, of a client or of a server.
//
// Never waits. What an operation waits for is its outcome; the same operation is tried again then, with the
// same bytes. Threads: one at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

struct ssl_st;

namespace sibyl::protocol {

class TlsSession {
 public:
  enum class Outcome { done, wants_read, wants_write, closed, failed };

  // Owns `ssl`, which has its socket (not owned) and its role; nullptr: there was no memory for it. `peer`:
  // what errors call the other side.
  TlsSession(ssl_st* ssl, const char* peer);
  ~TlsSession();
  TlsSession(const TlsSession&) = delete;

  Outcome handshake();
  // `done`: at least one byte.
  Outcome read(char* to, size_t size, size_t& got);
  Outcome write(const char* from, size_t size, size_t& sent);
  // Bytes that can be read although the socket has none.
  bool has_pending() const;
  // From the socket, since the start.
  uint64_t bytes_read() const;
  // Says goodbye, if that goes without waiting.
  void shut_down();

  // After `closed` or `failed`.
  const std::string& error() const { return error_; }

 protected:
  ssl_st* ssl() const { return ssl_; }

 private:
  Outcome outcome_of(int result);

  ssl_st* ssl_;
  const char* peer_;
  bool has_failed_ = false;  // nothing can be said any more
  std::string error_;
};

}  // namespace sibyl::protocol
