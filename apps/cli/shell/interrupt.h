// Handles Ctrl-C while a statement runs: its output ends, the shell continues.
#pragma once

namespace sibyl::cli::shell {

// Starts counting SIGINT. A second SIGINT before the first was handled terminates the process.
void catch_interrupts();
// Number of SIGINTs since the last clear_interrupts(). Always 0 without catch_interrupts().
int interrupts();
void clear_interrupts();

// While an object exists, the shell waits for a response that Ctrl-C cannot cancel. Ctrl-C then prints a
// message.
class WaitingForResponse {
 public:
  WaitingForResponse();
  ~WaitingForResponse();
  WaitingForResponse(const WaitingForResponse&) = delete;
  WaitingForResponse& operator=(const WaitingForResponse&) = delete;
};

}  // namespace sibyl::cli::shell
