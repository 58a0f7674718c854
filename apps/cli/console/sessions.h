// Sessions of the console: which browser has logged in as which role.
//
// A session has two random numbers of 256 bits. The browser keeps the first in a cookie that scripts cannot
// read and that is not sent with requests of other sites. The page sends the second in a header with every
// request, which proves that the request comes from the page. On a server without logins all browsers share
// one session, which needs no cookie but the same proof.
//
// Threads: thread-safe.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "auth/login.h"
#include "base/mutex.h"

namespace sibyl::cli::console {

struct ConsoleSession {
  std::string id;                      // the cookie's value; empty: the shared session
  std::string csrf;                    // sent by the page in X-Sibyl-CSRF
  const auth::Login* login = nullptr;  // nullptr: the server has no logins
};

class Sessions {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr size_t max_sessions = 1000;  // if there are more, the session that was idle longest ends
  static constexpr std::chrono::minutes max_idle{60};
  static constexpr std::chrono::hours max_age{12};

  // `needs_login`: false on a server without logins.
  explicit Sessions(bool needs_login);

  bool needs_login() const { return needs_login_; }
  ConsoleSession begin(const auth::Login& login, Clock::time_point now);
  // Returns the session of a cookie's value, or nullopt if it has ended.
  std::optional<ConsoleSession> find(std::string_view id, Clock::time_point now);
  void end(std::string_view id);

 private:
  struct Entry {
    ConsoleSession session;
    Clock::time_point begun, last_used;
  };

  const bool needs_login_;
  const ConsoleSession shared_;
  base::Mutex mutex_;
  std::map<std::string, Entry, std::less<>> entries_ SIBYL_GUARDED_BY(mutex_);  // by id
};

// Compares secrets in a time that does not depend on where they differ.
bool is_same_secret(std::string_view one, std::string_view other);

// Returns the value of a cookie in a Cookie header, or an empty text.
std::string_view find_cookie(std::string_view header, std::string_view name);

}  // namespace sibyl::cli::console
