#include "engine/announcements.h"

namespace sibyl::engine {
namespace {

using base::Bytes;
using base::BytesView;

// The first byte of a message. The version of the schema follows it.
constexpr char changed_message = 'c', settled_message = 's';

}  // namespace

base::Status Announcements::announce() {
  if (!of_.options.is_in_cluster()) return {};
  const Bytes version = of_.schema_changes.schema()->version;
  of_.gate.wait();
  SIBYL_TRY(of_.options.shared->announce(changed_message + version));
  settle(version);
  return of_.options.shared->announce(settled_message + version);
}

base::Status Announcements::receive(BytesView message) {
  if (message.empty()) return base::fail(base::ErrorCode::server, "An announcement is empty");
  if (message[0] == settled_message) {
    settle(Bytes(message.substr(1)));
    return {};
  }
  if (message[0] != changed_message)
    return base::fail(base::ErrorCode::server, "An announcement of another version of the program");
  SIBYL_TRY(reload());
  return of_.roles.reload();
}

base::Status Announcements::reload() {
  SIBYL_ASSIGN(const bool changed, of_.schema_changes.reload());
  // The gate is needed even if `changed` is false: another call may have reloaded the schema and still be
  // waiting.
  (void)changed;
  of_.gate.wait();
  return {};
}

bool Announcements::is_settled() const {
  const Bytes newest = of_.schema_changes.schema()->version;
  const base::MutexLock lock(mutex_);
  return settled_ == newest;
}

void Announcements::settle(const Bytes& version) {
  of_.schema_changes.settle(version);
  {
    const base::MutexLock lock(mutex_);
    settled_ = version;
  }
  of_.on_settled();
}

}  // namespace sibyl::engine
