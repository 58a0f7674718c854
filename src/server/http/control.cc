#include "server/http/control.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spdlog/spdlog.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <boost/json.hpp>
#include <cerrno>
#include <cstring>
#include <list>
#include <system_error>
#include <thread>
#include <utility>

#include "base/contain.h"
#include "base/file.h"

namespace sibyl::server {
namespace {

namespace json = boost::json;
using base::File;

constexpr const char* socket_name = "control.sock";
constexpr size_t max_control_bytes = 64 << 10;
constexpr size_t max_answer_bytes = 64 << 20;
constexpr size_t max_callers = 16;
// The timeout for a caller that sends its request or reads the response.
constexpr time_t caller_timeout_seconds = 10;

base::Error system_error(const std::string& what, int error) {
  return {base::ErrorCode::server, fmt::format("{}: {}", what, std::strerror(error))};
}

// Socket addresses are limited to 108 bytes, but paths may be longer. So the directory is named by its
// descriptor.
sockaddr_un address_in(const File& directory) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string path = fmt::format("/proc/self/fd/{}/{}", directory.number(), socket_name);
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  return address;
}

void set_timeouts(int socket) {
  const timeval timeout{caller_timeout_seconds, 0};
  ::setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout);
  ::setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof timeout);
}

bool send_line(int socket, std::string text) {
  text += '\n';
  for (size_t sent = 0; sent < text.size();) {
    const ssize_t got = ::send(socket, text.data() + sent, text.size() - sent, MSG_NOSIGNAL);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    sent += static_cast<size_t>(got);
  }
  return true;
}

// Receives one line, without its newline. Returns false if the line is incomplete or too long.
bool receive_line(int socket, size_t limit, std::string& line) {
  char buffer[4096];
  line.clear();
  while (line.size() < limit) {
    const ssize_t got = ::recv(socket, buffer, sizeof buffer, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    line.append(buffer, static_cast<size_t>(got));
    if (line.back() != '\n') continue;
    line.pop_back();
    return true;
  }
  return false;
}

bool may_call(int socket) {
  ucred caller{};
  socklen_t size = sizeof caller;
  if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &caller, &size) != 0) return false;
  return caller.uid == 0 || caller.uid == ::geteuid();
}

std::string answer_of(const base::Error& error) {
  return json::serialize(json::object{{"ok", false},
                                      {"code", static_cast<int32_t>(error.code())},
                                      {"message", error.message()},
                                      {"hint", error.hint()}});
}

}  // namespace

struct Control::Impl {
  struct Caller {
    File socket;
    std::atomic<bool> done = false;
    std::thread thread;
  };

  base::Status listen(const std::string& data);
  void serve();
  void accept();
  void forget_callers(bool all);
  std::string answer(const std::string& line) const;
  std::string answer_safely(const std::string& line) const;

  std::map<std::string, Handler> handlers;
  File directory, listener, stopping;
  std::list<Caller> callers;  // used by `thread`, and by stop() after that has ended
  std::thread thread;
};

base::Status Control::Impl::listen(const std::string& data) {
  directory = File(data, O_RDONLY | O_DIRECTORY);
  if (!directory) return base::fail(system_error("Cannot open " + data, errno));
  ::unlinkat(directory.number(), socket_name, 0);
  stopping = File(::eventfd(0, EFD_CLOEXEC));
  listener = File(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const sockaddr_un address = address_in(directory);
  // The mode is set before the socket gets its name, so that other users can open it at no time.
  if (!stopping || !listener || ::fchmod(listener.number(), 0600) != 0 ||
      ::bind(listener.number(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::fchmodat(directory.number(), socket_name, 0600, 0) != 0 || ::listen(listener.number(), 16) != 0)
    return base::fail(system_error(fmt::format("Cannot listen on {}/{}", data, socket_name), errno));
  return {};
}

void Control::Impl::serve() {
  for (;;) {
    pollfd events[2] = {{listener.number(), POLLIN, 0}, {stopping.number(), POLLIN, 0}};
    if (::poll(events, 2, -1) < 0 && errno != EINTR) return;
    if (events[1].revents != 0) return;
    if (events[0].revents != 0) (void)base::contain([&] { accept(); });
  }
}

void Control::Impl::accept() {
  File socket(::accept4(listener.number(), nullptr, nullptr, SOCK_CLOEXEC));
  if (!socket) {
    // The process probably has no descriptors left. An immediate retry would repeat without a pause.
    pollfd stop{stopping.number(), POLLIN, 0};
    if (errno != EAGAIN && errno != EINTR && errno != ECONNABORTED) ::poll(&stop, 1, 100);
    return;
  }
  set_timeouts(socket.number());
  forget_callers(false);
  if (!may_call(socket.number()) || callers.size() >= max_callers) {
    const char* why = callers.size() >= max_callers
                          ? "Too many control commands run at once"
                          : "Only root and the server's user may use the control socket";
    (void)send_line(socket.number(), answer_of({base::ErrorCode::overloaded, why}));
    return;
  }
  Caller& caller = callers.emplace_back();
  caller.socket = std::move(socket);
  try {
    caller.thread = std::thread([this, &caller] {
      (void)base::contain([&] {
        std::string line;
        if (receive_line(caller.socket.number(), max_control_bytes, line))
          (void)send_line(caller.socket.number(), answer_safely(line));
      });
      ::shutdown(caller.socket.number(), SHUT_RDWR);
      caller.done = true;
    });
  } catch (const std::system_error& error) {
    (void)send_line(
        caller.socket.number(),
        answer_of({base::ErrorCode::overloaded, fmt::format("Cannot start a thread: {}", error.what())}));
    callers.pop_back();
  }
}

void Control::Impl::forget_callers(bool all) {
  for (auto caller = callers.begin(); caller != callers.end();) {
    if (!all && !caller->done) {
      ++caller;
      continue;
    }
    if (all) ::shutdown(caller->socket.number(), SHUT_RD);  // ends the caller's wait for its request
    caller->thread.join();
    caller = callers.erase(caller);
  }
}

std::string Control::Impl::answer(const std::string& line) const {
  boost::system::error_code error;
  const json::value request = json::parse(line, error);
  const json::object* object = error ? nullptr : request.if_object();
  const json::value* command = object != nullptr ? object->if_contains("command") : nullptr;
  if (command == nullptr || !command->is_string())
    return answer_of(
        {base::ErrorCode::protocol, "A control request is {\"command\": …, \"arguments\": {…}}"});
  const auto handler = handlers.find(std::string(command->get_string()));
  if (handler == handlers.end())
    return answer_of(base::Error(base::ErrorCode::invalid,
                                 fmt::format("Unknown control command '{}'", command->get_string().c_str()))
                         .with_hint("the server may be older than this program"));
  ControlArguments arguments;
  if (const json::value* given = object->if_contains("arguments"); given != nullptr && given->is_object())
    for (const auto& [name, value] : given->get_object())
      if (value.is_string()) arguments[std::string(name)] = value.get_string().c_str();
  const base::Result<std::string> result = handler->second(arguments);
  if (!result) return answer_of(result.error());
  return fmt::format("{{\"ok\": true, \"result\": {}}}", *result);
}

// Turns an exception of a command into an error response.
std::string Control::Impl::answer_safely(const std::string& line) const {
  const base::Result<std::string> answered = base::contain([&] { return answer(line); });
  if (answered) return *answered;
  spdlog::error("a control command failed: {}", answered.error().message());
  return answer_of(answered.error());
}

Control::Control() : impl_(std::make_unique<Impl>()) {}

Control::~Control() {
  stop();
}

void Control::add(std::string command, Handler handler) {
  impl_->handlers[std::move(command)] = std::move(handler);
}

base::Status Control::start(const std::string& data) {
  SIBYL_TRY(impl_->listen(data));
  impl_->thread = std::thread([this] { impl_->serve(); });
  return {};
}

void Control::stop() {
  if (!impl_->thread.joinable()) return;
  const uint64_t one = 1;
  if (::write(impl_->stopping.number(), &one, sizeof one) != sizeof one)
    spdlog::error("the control socket cannot be stopped: {}", std::strerror(errno));
  impl_->thread.join();
  ::unlinkat(impl_->directory.number(), socket_name, 0);
  impl_->forget_callers(true);
}

std::string Control::answer(const std::string& request) const {
  return impl_->answer_safely(request);
}

base::Result<std::string> call_control(const std::string& data, const std::string& command,
                                       const ControlArguments& arguments) {
  const File directory(data, O_RDONLY | O_DIRECTORY);
  if (!directory) return base::fail(system_error("Cannot open " + data, errno));
  const File socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!socket) return base::fail(system_error("Cannot create a socket", errno));
  const sockaddr_un address = address_in(directory);
  if (::connect(socket.number(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    if (errno == ENOENT || errno == ECONNREFUSED)
      return base::fail(base::ErrorCode::unavailable, fmt::format("No server has {} open", data));
    base::Error refused = system_error(fmt::format("Cannot reach the server that has {} open", data), errno);
    return base::fail(errno == EACCES ? refused.with_hint("run the command as root or as the server's user")
                                      : refused);
  }
  std::string line;
  if (!send_line(socket.number(), control_request(command, arguments)) ||
      !receive_line(socket.number(), max_answer_bytes, line))
    return base::fail(base::ErrorCode::server, "The server closed the connection before it answered");
  return control_result(line);
}

std::string control_request(const std::string& command, const ControlArguments& arguments) {
  json::object request{{"command", command}};
  json::object& given = request["arguments"].emplace_object();
  for (const auto& [name, value] : arguments) given[name] = value;
  return json::serialize(request);
}

base::Result<std::string> control_result(const std::string& response) {
  boost::system::error_code error;
  const json::value answer = json::parse(response, error);
  const json::object* object = error ? nullptr : answer.if_object();
  if (object == nullptr || !object->contains("ok") || !object->at("ok").is_bool())
    return base::fail(base::ErrorCode::protocol, "The server's response to a control request is invalid");
  if (object->at("ok").get_bool())
    return object->contains("result") ? json::serialize(object->at("result")) : "null";
  const auto text = [&](const char* name) {
    const json::value* value = object->if_contains(name);
    return value != nullptr && value->is_string() ? std::string(value->get_string().c_str()) : "";
  };
  const json::value* code = object->if_contains("code");
  const int64_t number = code != nullptr && code->is_int64() ? code->get_int64() : 0;
  return base::fail(
      base::Error(static_cast<base::ErrorCode>(number), text("message")).with_hint(text("hint")));
}

}  // namespace sibyl::server
