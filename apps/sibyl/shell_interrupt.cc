#include "sibyl/shell_interrupt.h"

#include <csignal>

namespace sibyl::shell {
namespace {

volatile std::sig_atomic_t count = 0;

void on_interrupt(int signal) {
  if (count == 1) {
    std::signal(signal, SIG_DFL);
    std::raise(signal);
  }
  count = count + 1;
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

}  // namespace sibyl::shell
