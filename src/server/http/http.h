// A small HTTP server for monitoring: metrics, health, status. It is read-only and has no login, so it
// listens on loopback unless the operator chooses another address.
//
// One thread answers requests one after another, because each takes only milliseconds. Requests are limited
// to 8 KiB, five seconds and 32 connections. A further connection closes the oldest connection of the address
// that has most. So slow clients cannot keep others out.
//
// The Host header of a request must be an IP address, localhost, this machine's name or one of `host_names`.
// This prevents DNS rebinding: a web page of another site, whose name resolves to this machine, cannot read
// anything.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace sibyl::server {

struct HttpAnswer {
  int status = 200;
  std::string type = "text/plain; charset=utf-8";
  std::string body;
};

class Http {
 public:
  using Page = std::function<HttpAnswer()>;

  // Listens on HOST:PORT and answers GET and HEAD requests for the given paths. The server is listening when
  // this returns. `host_names` lists further accepted Host headers; "*" accepts any.
  static base::Result<std::unique_ptr<Http>> start(const std::string& address,
                                                   std::map<std::string, Page> pages,
                                                   std::vector<std::string> host_names = {});
  // Closes every connection and stops the thread. No Page is called afterwards.
  ~Http();
  Http(const Http&) = delete;
  Http& operator=(const Http&) = delete;

  // "127.0.0.1:9180".
  std::string address() const;

 private:
  struct Impl;
  explicit Http(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// Returns true if a Host header (with or without a port) is an IP address or one of `names`. `names` must be
// in lower case.
bool is_own_host(std::string_view host, const std::vector<std::string>& names);

}  // namespace sibyl::server
