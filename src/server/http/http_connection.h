// One HTTP connection: reads requests one after another and writes their answers. Used by Http only.
#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>

#include "server/http/message.h"
#include "server/tls/tls_context.h"

namespace sibyl::server {

class HttpConnection;
using HttpConnectionPtr = std::shared_ptr<HttpConnection>;

// Answers the requests of connections. Its functions are called on the HTTP thread.
class HttpOwner {
 public:
  virtual ~HttpOwner() = default;
  // True if the path may have a body and if the connection is kept open after the answer.
  virtual bool is_for_handler(std::string_view path) const = 0;
  // Must call connection->answer(number, …) once, on the HTTP thread, perhaps later, and must keep the
  // connection alive until then.
  virtual void handle(const HttpConnectionPtr& connection, uint64_t number, HttpRequest request) = 0;
  virtual void forget(HttpConnection& connection) = 0;
};

// Lives until its last asynchronous operation has ended. Not thread-safe.
class HttpConnection : public std::enable_shared_from_this<HttpConnection> {
 public:
  // `tls` is nullptr for a plain connection.
  HttpConnection(HttpOwner& owner, boost::asio::ip::tcp::socket socket,
                 const std::shared_ptr<const TlsContext>& tls);
  // Calls owner.forget().
  ~HttpConnection();

  void start();
  // Writes the answer to the request with this number. Ignored if the connection has been closed.
  void answer(uint64_t number, HttpAnswer answer);
  void close();

  bool is_open() const;
  // True while no request is being handled.
  bool is_waiting() const;
  const boost::asio::ip::address& address() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace sibyl::server
