// One TLS session over a non-blocking socket, of a client or a server.
//
// Never blocks. If an operation returns wants_read or wants_write, the caller must wait for the socket and
// then call the same operation again with the same arguments. Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

struct ssl_st;

namespace sibyl::protocol {

class TlsSession {
 public:
  enum class Outcome { done, wants_read, wants_write, closed, failed };

  // Takes ownership of `ssl`, whose socket and role are set. The socket is not owned. If `ssl` is nullptr
  // (out of memory), handshake() fails. `peer` is the name of the other side in errors.
  TlsSession(ssl_st* ssl, const char* peer);
  ~TlsSession();
  TlsSession(const TlsSession&) = delete;

  Outcome handshake();
  // `done` means that at least one byte was transferred.
  Outcome read(char* to, size_t size, size_t& got);
  Outcome write(const char* from, size_t size, size_t& sent);
  // True if bytes can be read although the socket has none.
  bool has_pending() const;
  // Encrypted bytes read from the socket since the start.
  uint64_t bytes_read() const;
  // Sends close_notify if that is possible without blocking.
  void shut_down();

  // REQUIRES: an operation has returned `closed` or `failed`.
  const std::string& error() const { return error_; }

 protected:
  ssl_st* ssl() const { return ssl_; }

 private:
  Outcome outcome_of(int result);

  ssl_st* ssl_;
  const char* peer_;
  bool has_failed_ = false;  // nothing more can be sent
  std::string error_;
};

}  // namespace sibyl::protocol
