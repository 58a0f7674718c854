// Ctrl-C while a statement runs: the statement's output ends, the shell goes on.
#pragma once

namespace sibyl::shell {

// From here on SIGINT is counted; a second one before the first was looked at ends the process as usual.
void catch_interrupts();
// How often it came since the last clear_interrupts(). Always 0 without catch_interrupts().
int interrupts();
void clear_interrupts();

// While it lives the shell waits for an answer that Ctrl-C cannot call back, and Ctrl-C says so.
class WaitingForAnswer {
 public:
  WaitingForAnswer();
  ~WaitingForAnswer();
  WaitingForAnswer(const WaitingForAnswer&) = delete;
  WaitingForAnswer& operator=(const WaitingForAnswer&) = delete;
};

}  // namespace sibyl::shell
