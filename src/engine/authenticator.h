// Logs clients in.
#pragma once

#include <string_view>

#include "auth/login.h"
#include "auth/options.h"
#include "base/result.h"

namespace sibyl::engine {

// Thread-safe. Requests of a client run with the Login that these functions return, which lives as long as
// the engine. Errors are Cassandra's (0x0100).
class Authenticator {
 public:
  virtual ~Authenticator() = default;

  virtual const auth::Options& options() const = 0;
  // Slow by design: do not call it on a reactor thread. A wrong password, an unknown role and a role without
  // a password get the same error after the same time.
  virtual base::Result<const auth::Login*> log_in(std::string_view role, std::string_view password) = 0;
  // For a verified certificate: logs in the role that its identity is mapped to. Fast.
  virtual base::Result<const auth::Login*> log_in_by_identity(std::string_view identity) = 0;
  // Returns the login of a role whose client has logged in at another server of the cluster. Fast.
  virtual base::Result<const auth::Login*> login_of(std::string_view role) = 0;
};

}  // namespace sibyl::engine
