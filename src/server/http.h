// A small HTTP server for those who watch: metrics, health, status. It changes nothing and asks for no login,
// so it listens on loopback unless an operator says otherwise.
//
// One thread of its own answers one request after another: what is asked for takes milliseconds. Requests are
// bounded (8 KiB, five seconds, 32 connections). A connection beyond that ends the oldest one of the address
// that has most, so that clients which send or read slowly keep nobody out.
//
// A request's Host must be an address, localhost, this machine's name or one of Options::host_names: a page
// of another site, whose name was made to resolve to this machine, cannot read anything (DNS rebinding).
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

  // Listens on HOST:PORT, and answers GET and HEAD of the given paths from the moment it returns.
  // `host_names`: what it may be called besides; "*": anything.
  static base::Result<std::unique_ptr<Http>> start(const std::string& address,
                                                   std::map<std::string, Page> pages,
                                                   std::vector<std::string> host_names = {});
  // Closes every connection and ends its thread; no page is asked for afterwards.
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

// Whether `host`, as a Host header says it (with a port or without), names this machine in a way that no
// other site's pages can use. `names`: in lower case.
bool is_own_host(std::string_view host, const std::vector<std::string>& names);

}  // namespace sibyl::server
