// Reads and writes frames on one connection. The base class of both sides of the connection.
#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <memory>
#include <string>

#include "base/bytes.h"
#include "cluster/transport/frame.h"

namespace sibyl::cluster {

// Used on one thread. Its pending operations keep it alive.
class Channel : public std::enable_shared_from_this<Channel> {
 public:
  enum class Side : uint8_t { caller, receiver };

  virtual ~Channel() = default;
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;

  // Ends the connection. on_closed() is called once, in this call.
  void close(const std::string& why);
  bool is_closed() const { return is_closed_; }

  // Queues a frame. Frames leave with the next flush().
  void append(const PeerFrame& frame) { append_frame(queued_, frame); }
  void flush();

 protected:
  // `tls` must outlive the channel; nullptr: not encrypted.
  Channel(boost::asio::ip::tcp::socket socket, boost::asio::ssl::context* tls);

  boost::asio::ip::tcp::socket& socket() { return socket_; }
  // Call this when the socket is connected. on_ready() follows, and then frames.
  void open(Side side);
  // Closes the connection if set_authenticated() is not called within this time. Call it before open().
  void limit_handshake(std::chrono::milliseconds time);
  // Call it once the other side has proved its identity: it may then send calls.
  void set_authenticated();
  bool is_authenticated() const { return is_authenticated_; }

  virtual void on_ready() = 0;
  // Returns false if the frame is invalid. The connection is then closed.
  virtual bool on_frame(const PeerFrame& frame) = 0;
  virtual void on_closed(const std::string& why) = 0;

 private:
  void read();
  void received(size_t size);
  template <typename Done>
  auto contained(Done done);

  boost::asio::ip::tcp::socket socket_;
  std::unique_ptr<boost::asio::ssl::stream<boost::asio::ip::tcp::socket&>> tls_;  // nullptr: not encrypted
  boost::asio::steady_timer handshake_timer_;
  size_t max_frame_ = max_handshake_frame;
  base::Bytes buffer_;  // received bytes are in [0, filled_)
  size_t filled_ = 0;
  base::Bytes queued_, sending_;
  bool is_sending_ = false, is_receiving_ = false, is_open_ = false, is_authenticated_ = false,
       is_closed_ = false;
};

}  // namespace sibyl::cluster
