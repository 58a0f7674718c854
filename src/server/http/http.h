// The HTTP server of metrics, health, status and the console.
//
// Monitoring pages are read-only and have no login, so the server listens on loopback unless the operator
// chooses another address. A handler answers all other paths, with its own access checks.
//
// One thread reads requests and writes answers. It answers monitoring pages itself, because each takes only
// milliseconds. Limits:
//
//   headers       8 KiB, complete within 5 seconds
//   body          1 MiB, complete within 10 seconds; monitoring pages accept none
//   answer        read by the client within 30 seconds
//   connections   32; a further one closes the idlest one of the address with the most connections
//
// So slow clients cannot keep others out. A connection is kept open after an answer of the handler, and
// closed after a monitoring page.
//
// With TLS, connections are encrypted, and a handshake must be complete within 5 seconds.
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
#include "server/http/message.h"
#include "server/http/own_host.h"
#include "server/tls/tls_context.h"

namespace sibyl::server {

class Http {
 public:
  using Page = std::function<HttpAnswer()>;

  // Listens on HOST:PORT and answers GET and HEAD requests for the given paths. The server is listening when
  // this returns. `host_names` lists further accepted Host headers; "*" accepts any. `handler` answers all
  // other paths and must outlive the server; nullptr: there are no others. `tls` has the certificate of every
  // new connection and must outlive the server; nullptr: connections are not encrypted.
  static base::Result<std::unique_ptr<Http>> start(const std::string& address,
                                                   std::map<std::string, Page> pages,
                                                   std::vector<std::string> host_names = {},
                                                   HttpHandler* handler = nullptr,
                                                   TlsContexts* tls = nullptr);
  // Closes every connection and stops the thread. No Page and no handler is called afterwards.
  ~Http();
  Http(const Http&) = delete;
  Http& operator=(const Http&) = delete;

  // "127.0.0.1:9180".
  std::string address() const;

 private:
  struct Impl;
  explicit Http(std::shared_ptr<Impl> impl);
  std::shared_ptr<Impl> impl_;
};

}  // namespace sibyl::server
