// A small HTTP server for those who watch: metrics, health, status. It changes nothing and asks for no login,
// so it listens on loopback unless an operator says otherwise.
//
// One thread of its own answers one request after another: what is asked for takes milliseconds. Requests are
// bounded (8 KiB, five seconds, 32 connections).
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

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
  static base::Result<std::unique_ptr<Http>> start(const std::string& address,
                                                   std::map<std::string, Page> pages);
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

}  // namespace sibyl::server
