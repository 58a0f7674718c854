// Checks the permissions that a statement needs.
#pragma once

#include <span>

#include "auth/access.h"
#include "auth/login.h"
#include "base/result.h"
#include "engine/roles/roles.h"
#include "execute/environment.h"
#include "plan/prepared.h"
#include "schema/schema.h"

namespace sibyl::engine {

// Returns Cassandra's error (0x2100) if the user may not run the statement. Statements about roles check
// permissions themselves when they run.
base::Status authorize(const plan::Prepared& plan, const std::string& user, const auth::Access& access,
                       const schema::Snapshot& schema);

// Returns true if the user sees the clear values of masked columns of these tables.
bool may_unmask(const std::vector<schema::TablePtr>& tables, const std::string& user,
                const auth::Access& access);

// Checks every request. Each thread caches which statements it has allowed until roles or permissions change,
// so that checking a statement again takes a few nanoseconds.
class PermissionCheck {
 public:
  explicit PermissionCheck(const Roles& roles) : roles_(roles) {}

  // Calls `schema` only if it is needed.
  template <typename Schema>
  base::Status check(const plan::PreparedPtr& plan, const auth::Login& login, Schema schema) const {
    if (is_allowed(plan, login)) return {};
    return check_now(plan, login, *schema());
  }

 private:
  bool is_allowed(const plan::PreparedPtr& plan, const auth::Login& login) const;
  base::Status check_now(const plan::PreparedPtr& plan, const auth::Login& login,
                         const schema::Snapshot& schema) const;

  const Roles& roles_;
};

}  // namespace sibyl::engine
