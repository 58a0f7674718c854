// The control socket: how the commands of an operator (`sibyl snapshot`, `sibyl flush`, …) reach the server
// that has a data directory open.
//
// DATA/control.sock is a Unix socket. Only the user who runs the server and root can use it: its mode is
// 0600, and the kernel is asked who calls. So it needs no password, and nothing of it can be reached over the
// network. Each connection carries one request and one answer, each a line of JSON:
//
//   {"command": "snapshot take", "arguments": {"name": "before-upgrade"}}
//   {"ok": true, "result": …}
//   {"ok": false, "code": 8704, "message": "…", "hint": "…"}
//
// Threads: add() before start(); handlers run on threads of their own, several at once.
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
  // Gives the result as JSON text. It may take long: only its own caller waits.
  using Handler = std::function<base::Result<std::string>(const ControlArguments&)>;

  Control();
  // Stops.
  ~Control();
  Control(const Control&) = delete;
  Control& operator=(const Control&) = delete;

  void add(std::string command, Handler handler);
  // Listens in a data directory. REQUIRES: this process has the directory open, so that a socket which is
  // found there is a dead server's.
  base::Status start(const std::string& data);
  // Takes no more requests, waits for those that run, and removes the socket.
  void stop();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// Asks the server that has the directory open; gives its result as JSON text. `unavailable`: none has, so the
// directory may be opened.
base::Result<std::string> call_control(const std::string& data, const std::string& command,
                                       const ControlArguments& arguments = {});

}  // namespace sibyl::server
