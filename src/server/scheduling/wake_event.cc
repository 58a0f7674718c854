#include "server/scheduling/wake_event.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <boost/asio/buffer.hpp>
#include <cerrno>
#include <system_error>
#include <utility>

namespace sibyl::server {
namespace {

int new_event_file() {
  const int file = ::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  if (file < 0) throw std::system_error(errno, std::generic_category(), "eventfd");
  return file;
}

}  // namespace

WakeEvent::WakeEvent(boost::asio::io_context& context, std::function<void()> on_wake)
    : event_(context, new_event_file()), file_(event_.native_handle()), on_wake_(std::move(on_wake)) {}

void WakeEvent::stop() {
  boost::system::error_code ignored;
  event_.cancel(ignored);
}

void WakeEvent::notify() const {
  const uint64_t one = 1;
  while (::write(file_, &one, sizeof one) < 0 && errno == EINTR) continue;
}

void WakeEvent::listen() {
  event_.async_read_some(boost::asio::buffer(&count_, sizeof count_),
                         [this](const boost::system::error_code& error, size_t) {
                           if (error) return;
                           listen();
                           on_wake_();
                         });
}

}  // namespace sibyl::server
