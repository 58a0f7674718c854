// HTTP requests and answers, as handlers see them.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sibyl::server {

struct HttpRequest {
  std::string method, path;  // "GET", "/metrics"
  std::string query;         // the part after '?'; empty: there is none
  // By name in lower case. A header that was sent several times has its values joined with ", ".
  std::map<std::string, std::string, std::less<>> headers;
  std::string body;
  std::string address;  // the client's, numeric
  // Becomes true when the client disconnects before it is answered. nullptr: never.
  std::shared_ptr<const std::atomic<bool>> is_abandoned;

  std::string_view header(std::string_view name) const {
    const auto found = headers.find(name);
    return found == headers.end() ? std::string_view() : std::string_view(found->second);
  }
};

struct HttpAnswer {
  int status = 200;
  std::string type = "text/plain; charset=utf-8";
  std::string body;
  std::vector<std::pair<std::string, std::string>> headers = {};
  // Sent instead of `body` if not empty. Must live as long as the program.
  std::string_view static_body = {};

  std::string_view content() const { return static_body.empty() ? std::string_view(body) : static_body; }
};

// Answers requests that are not for a monitoring page.
class HttpHandler {
 public:
  virtual ~HttpHandler() = default;

  // Called on the HTTP thread, so it must not block. `done` must be called once, on any thread. A call after
  // the Http has been destroyed has no effect.
  using Done = std::function<void(HttpAnswer)>;
  virtual void handle(HttpRequest request, Done done) = 0;
};

}  // namespace sibyl::server
