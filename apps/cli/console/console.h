// The web console: checks, routes and answers the requests of its page.
//
//   HTTP thread ──▶ handle() ─┬─ files of the page: answered immediately
//                             └─ /api/v1: checked, then run by Workers ──▶ done()
//
// Every request of the API, except those that begin a session, must
//
//   1. come from this console's own page: Origin and Sec-Fetch-Site, if sent, must say so;
//   2. belong to a session: the shared one on a server without logins, or else the one of the cookie;
//   3. prove that the page sent it, with the session's X-Sibyl-CSRF.
//
// The request then runs with the permissions of the session's role.
#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "auth/attempts.h"
#include "cli/console/api.h"
#include "cli/console/overview.h"
#include "cli/console/running.h"
#include "cli/console/sessions.h"
#include "cli/console/workers.h"
#include "engine/engine.h"
#include "server/http/message.h"

namespace sibyl::cli::console {

class Console final : public server::HttpHandler {
 public:
  // The engine must outlive the console.
  Console(engine::Engine& engine, Settings settings);
  // Waits until running requests have ended.
  ~Console() override;

  struct Place {
    std::string http_address;  // its port names the session cookie
    bool is_encrypted = false;
  };
  // Begins to sample the server. The monitor must live until detach(), which must be called before the server
  // is destroyed.
  void attach(const engine::Monitor& monitor, const Place& place);
  void detach();

  // Thread-safe.
  void handle(server::HttpRequest request, Done done) override;

 private:
  server::HttpAnswer answer_api(const server::HttpRequest& request);
  server::HttpAnswer answer_session(const server::HttpRequest& request);
  server::HttpAnswer log_in(const server::HttpRequest& request);
  base::Result<const auth::Login*> check_password(const std::string& role, const std::string& password,
                                                  const std::string& address);
  server::HttpAnswer run(const server::HttpRequest& request, const ConsoleSession& session);
  Answer call(const server::HttpRequest& request, const ConsoleSession& session);
  server::HttpAnswer session_answer(const std::optional<ConsoleSession>& session) const;
  std::optional<ConsoleSession> session_of(const server::HttpRequest& request);
  std::string cookie_name() const;
  std::string cookie(const std::string& value) const;

  engine::Engine& engine_;
  const Settings settings_;
  Sessions sessions_;
  RunningStatements running_;
  auth::Attempts attempts_;
  std::atomic<int> logins_ = 0;     // passwords that are being checked
  std::atomic<uint16_t> port_ = 0;  // port of the HTTP address; 0: not yet known
  std::atomic<bool> is_encrypted_ = false;
  Overview overview_;
  Workers workers_;  // declared last, because its threads use everything above
};

}  // namespace sibyl::cli::console
