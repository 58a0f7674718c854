#include "cli/console/sessions.h"

#include <openssl/crypto.h>
#include <openssl/rand.h>

#include <algorithm>
#include <array>
#include <stdexcept>

#include "base/bytes.h"
#include "base/mutex.h"

namespace sibyl::cli::console {
namespace {

std::string random_secret() {
  std::array<unsigned char, 32> bytes{};
  if (RAND_bytes(bytes.data(), bytes.size()) != 1) throw std::runtime_error("no random numbers");
  return base::to_hex({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

}  // namespace

Sessions::Sessions(bool needs_login)
    : needs_login_(needs_login), shared_{"", needs_login ? "" : random_secret(), nullptr} {}

ConsoleSession Sessions::begin(const auth::Login& login, Clock::time_point now) {
  const ConsoleSession session{random_secret(), random_secret(), &login};
  const base::MutexLock lock(mutex_);
  if (entries_.size() >= max_sessions)
    entries_.erase(std::min_element(entries_.begin(), entries_.end(), [](const auto& one, const auto& other) {
      return one.second.last_used < other.second.last_used;
    }));
  entries_[session.id] = {session, now, now};
  return session;
}

std::optional<ConsoleSession> Sessions::find(std::string_view id, Clock::time_point now) {
  if (!needs_login_) return shared_;
  const base::MutexLock lock(mutex_);
  const auto found = entries_.find(id);
  if (found == entries_.end()) return std::nullopt;
  Entry& entry = found->second;
  if (now - entry.last_used > max_idle || now - entry.begun > max_age) {
    entries_.erase(found);
    return std::nullopt;
  }
  entry.last_used = now;
  return entry.session;
}

void Sessions::end(std::string_view id) {
  const base::MutexLock lock(mutex_);
  if (const auto found = entries_.find(id); found != entries_.end()) entries_.erase(found);
}

bool is_same_secret(std::string_view one, std::string_view other) {
  return one.size() == other.size() && !one.empty() &&
         CRYPTO_memcmp(one.data(), other.data(), one.size()) == 0;
}

std::string_view find_cookie(std::string_view header, std::string_view name) {
  while (!header.empty()) {
    const size_t end = std::min(header.find(';'), header.size());
    std::string_view cookie = header.substr(0, end);
    header.remove_prefix(std::min(end + 1, header.size()));
    while (cookie.starts_with(' ')) cookie.remove_prefix(1);
    if (cookie.starts_with(name) && cookie.substr(name.size()).starts_with('='))
      return cookie.substr(name.size() + 1);
  }
  return {};
}

}  // namespace sibyl::cli::console
