// Wakes a reactor from any thread. Unlike asio::post(), this takes no lock that the reactor's thread needs.
// So a low-priority thread that is preempted here does not block the reactor.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <cstdint>
#include <functional>

namespace sibyl::server {

class WakeEvent {
 public:
  // `on_wake` is called on the thread that runs the context, at least once after each notify(). Throws
  // std::system_error if no file descriptor is available.
  WakeEvent(boost::asio::io_context& context, std::function<void()> on_wake);

  // Keeps the context running until stop(). Both are called on the context's thread, or before it runs.
  void start() { listen(); }
  void stop();

  // Does not block or allocate. Thread-safe.
  void notify() const;

 private:
  void listen();

  boost::asio::posix::stream_descriptor event_;
  const int file_;  // of event_
  const std::function<void()> on_wake_;
  uint64_t count_ = 0;
};

}  // namespace sibyl::server
