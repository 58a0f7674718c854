#include "cli/shell/interrupt.h"

#include <unistd.h>

#include <csignal>
#include <string_view>

namespace sibyl::cli::shell {
namespace {

volatile std::sig_atomic_t count = 0;
volatile std::sig_atomic_t waiting = 0;

void print_how_to_leave() {
  constexpr std::string_view note = "\nThe statement is still running; Ctrl-C again leaves the shell.\n";
  if (::write(STDERR_FILENO, note.data(), note.size()) < 0) return;
}

void on_interrupt(int signal) {
  if (count == 1) {
    std::signal(signal, SIG_DFL);
    std::raise(signal);
  }
  count = count + 1;
  if (waiting != 0) print_how_to_leave();
}

}  // namespace

void catch_interrupts() {
  struct sigaction action{};
  action.sa_handler = on_interrupt;
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);  // without SA_RESTART, so that the signal ends waiting for a key too
}

int interrupts() {
  return count;
}
void clear_interrupts() {
  count = 0;
}

WaitingForResponse::WaitingForResponse() {
  waiting = 1;
  // A Ctrl-C just before the wait also counts: the next one would end the shell without a message.
  if (count == 1) print_how_to_leave();
}
WaitingForResponse::~WaitingForResponse() {
  waiting = 0;
}

}  // namespace sibyl::cli::shell
