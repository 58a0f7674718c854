#include "cli/migrate/interruption.h"

#include <time.h>

#include <cstdlib>
#include <utility>

namespace sibyl::cli::migrate {

Interruption::Interruption(std::function<void()> notify) {
  sigemptyset(&signals_);
  sigaddset(&signals_, SIGINT);
  sigaddset(&signals_, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &signals_, &former_);
  thread_ = std::thread([this, notify = std::move(notify)] { run(notify); });
}

Interruption::~Interruption() {
  is_over_ = true;
  thread_.join();
  pthread_sigmask(SIG_SETMASK, &former_, nullptr);
}

void Interruption::run(const std::function<void()>& notify) const {
  constexpr timespec pause{0, 100'000'000};
  bool is_notified = false;
  while (!is_over_) {
    const int signal = sigtimedwait(&signals_, nullptr, &pause);
    if (signal < 0) continue;
    if (is_notified) std::_Exit(128 + signal);
    is_notified = true;
    notify();
  }
}

}  // namespace sibyl::cli::migrate
