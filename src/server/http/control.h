// The control socket. Operators' commands (`sibyl snapshot`, `sibyl flush`, …) use it to reach the server
// that has a data directory open.
//
// DATA/control.sock is a Unix socket. Only root and the user who runs the server can use it: its mode is
// 0600, and the server checks the peer's user id. So it needs no password, and it cannot be reached over the
// network. Each connection carries one request and one response, each a line of JSON:
//
//   {"command": "snapshot take", "arguments": {"name": "before-upgrade"}}
//   {"ok": true, "result": …}
//   {"ok": false, "code": 8704, "message": "…", "hint": "…"}
//
// add() must not be called after start(). Each handler runs on its own thread; several may run at once.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "base/result.h"

namespace sibyl::server {

using ControlArguments = std::map<std::string, std::string>;

class Control {
 public:
  // Returns the result as JSON text. It may block: only its own caller waits.
  using Handler = std::function<base::Result<std::string>(const ControlArguments&)>;

  Control();
  // Calls stop().
  ~Control();
  Control(const Control&) = delete;
  Control& operator=(const Control&) = delete;

  void add(std::string command, Handler handler);
  // Listens in a data directory. REQUIRES: this process has the directory open. A socket that already exists
  // there was left by a server that has died, and is replaced.
  base::Status start(const std::string& data);
  // Refuses new requests, waits for the running ones, and removes the socket.
  void stop();
  // Returns the response to a request, both in the format above but without the newline. For servers that are
  // reached in another way. Runs the handler, so it may block. Thread-safe.
  std::string answer(const std::string& request) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// A request as text, and the result in the text of a response.
std::string control_request(const std::string& command, const ControlArguments& arguments = {});
base::Result<std::string> control_result(const std::string& response);

// Sends a command to the server that has the directory open. Returns its result as JSON text, or
// ErrorCode::unavailable if no server has the directory open.
base::Result<std::string> call_control(const std::string& data, const std::string& command,
                                       const ControlArguments& arguments = {});

}  // namespace sibyl::server
