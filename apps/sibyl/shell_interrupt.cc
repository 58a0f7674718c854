#include "sibyl/shell_interrupt.h"

#include <unistd.h>

#include <csignal>
#include <string_view>

namespace sibyl::shell {
namespace {

volatile std::sig_atomic_t count = 0;
volatile std::sig_atomic_t waiting = 0;

void tell_how_to_leave() {
  constexpr std::string_view note = "\nThe statement is still running; Ctrl-C again leaves the shell.\n";
  if (::write(STDERR_FILENO, note.data(), note.size()) < 0) return;
}

void on_interrupt(int signal) {
  if (count == 1) {
    std::signal(signal, SIG_DFL);
    std::raise(signal);
  }
  count = count + 1;
  if (waiting != 0) tell_how_to_leave();
}

}  // namespace

void catch_interrupts() {
  struct sigaction action{};
  action.sa_handler = on_interrupt;
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);  // without SA_RESTART: waiting for a key ends too
}

int interrupts() {
  return count;
}
void clear_interrupts() {
  count = 0;
}

WaitingForAnswer::WaitingForAnswer() {
  waiting = 1;
  // One that came between the line and the waiting counts too: the next would leave without a word.
  if (count == 1) tell_how_to_leave();
}
WaitingForAnswer::~WaitingForAnswer() {
  waiting = 0;
}

}  // namespace sibyl::shell
