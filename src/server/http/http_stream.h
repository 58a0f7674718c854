// The stream of an HTTP connection: a socket, encrypted or not.
#pragma once

#include <openssl/ssl.h>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <memory>
#include <optional>
#include <utility>

#include "server/tls/tls_context.h"

namespace sibyl::server {

// An asynchronous stream, as Beast uses it. Not thread-safe.
class HttpStream {
 public:
  using Socket = boost::asio::ip::tcp::socket;
  using executor_type = Socket::executor_type;

  // `tls` is nullptr for a plain connection.
  HttpStream(Socket socket, const std::shared_ptr<const TlsContext>& tls) : socket_(std::move(socket)) {
    if (tls) encrypted_.emplace(socket_, SSL_new(tls->get()));  // the stream owns the SSL
  }

  bool is_encrypted() const { return encrypted_.has_value(); }
  Socket& socket() { return socket_; }
  const Socket& socket() const { return socket_; }
  executor_type get_executor() { return socket_.get_executor(); }

  template <typename Buffers, typename Handler>
  void async_read_some(const Buffers& buffers, Handler&& handler) {
    if (encrypted_) return encrypted_->async_read_some(buffers, std::forward<Handler>(handler));
    socket_.async_read_some(buffers, std::forward<Handler>(handler));
  }
  template <typename Buffers, typename Handler>
  void async_write_some(const Buffers& buffers, Handler&& handler) {
    if (encrypted_) return encrypted_->async_write_some(buffers, std::forward<Handler>(handler));
    socket_.async_write_some(buffers, std::forward<Handler>(handler));
  }

  // REQUIRES: the connection is encrypted.
  template <typename Handler>
  void async_handshake(Handler&& handler) {
    encrypted_->async_handshake(boost::asio::ssl::stream_base::server, std::forward<Handler>(handler));
  }
  template <typename Handler>
  void async_shutdown(Handler&& handler) {
    encrypted_->async_shutdown(std::forward<Handler>(handler));
  }

  // True if decrypted bytes wait to be read. They do not make the socket readable.
  bool has_decrypted() const {
    return encrypted_ && SSL_pending(const_cast<HttpStream*>(this)->encrypted_->native_handle()) > 0;
  }
  // True if the client has sent its end, or has closed the socket. REQUIRES: the socket is readable.
  bool is_at_end();

 private:
  Socket socket_;
  std::optional<boost::asio::ssl::stream<Socket&>> encrypted_;
};

}  // namespace sibyl::server
